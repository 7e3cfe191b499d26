/** Ends a `switch` over a closed union: a new member fails to compile, a wrong value fails loudly. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${String(value)}`)
}
