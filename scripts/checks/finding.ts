/** One thing that a check found wrong, worded for the person who mends it. */
export type Finding = { readonly file: string; readonly problem: string }

/** A text file of the repository; `path` is relative to its root, with `/`. */
export type RepositoryFile = { readonly path: string; readonly text: string }

/** A rule about the repository's text files, decided from their content alone. */
export type Check = {
  readonly name: string
  readonly find: (files: readonly RepositoryFile[]) => readonly Finding[]
}
