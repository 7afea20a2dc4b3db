/**
 * Runs the script `generate` of a package with another output directory, and compares the result.
 * Run it through the script `generate:check` of the package: `node check-generated.ts [FOLDER]`, for `src/generated` by default.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [COMMITTED = 'src/generated'] = process.argv.slice(2);

const { scripts }: { scripts: { generate: string } } = JSON.parse(readFileSync('package.json', 'utf8'));
const fresh = mkdtempSync(join(process.cwd(), 'node_modules', '.generated-'));
try {
  const generator = spawnSync(scripts.generate, { shell: true, encoding: 'utf8', env: { ...process.env, GENERATE_INTO: fresh } });
  if (generator.status !== 0) {
    process.stderr.write(`The generator failed:\n${generator.stdout}${generator.stderr}\n`);
    process.exitCode = 1;
  } else {
    const different = filesToCompare().filter((file) => contentOf(join(fresh, file)) !== contentOf(join(COMMITTED, file)));
    if (different.length > 0) {
      process.stderr.write(
        `The generated code is not what the document gives: ${different.join(', ')}. Run 'npx -y pnpm@12 generate' and commit the result.\n`,
      );
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

/** The files of both folders, without those that git ignores, such as the YAML that packing writes. */
function filesToCompare(): readonly string[] {
  const made = readdirSync(fresh, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(fresh.length + 1));
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '.'], { cwd: COMMITTED, encoding: 'utf8' });
  return [...new Set([...made, ...listed.trim().split('\n')])].toSorted();
}

function contentOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
