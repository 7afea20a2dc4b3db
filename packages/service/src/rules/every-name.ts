/** A list that names every member of a type once. A list in which one is missing does not compile. */
export function everyNameOf<T>() {
  return <const Names extends readonly (keyof T)[]>(names: Exclude<keyof T, Names[number]> extends never ? Names : never): Names => names;
}
