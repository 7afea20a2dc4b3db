/** Runs samples in one process, which its parent starts: for each path that it receives, it imports the file and sends the failure or null. */
process.on('message', (path: string) => {
  import(path).then(
    () => process.send?.(null),
    (error: unknown) => process.send?.(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
});
// Samples print their data, which would fill the pipe.
process.stdout.write = () => true;
