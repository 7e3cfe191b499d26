import { createRequire } from 'node:module'
import type * as Viem from 'viem'

let loaded: typeof Viem | undefined

/**
 * viem, loaded when it is first called, so that a service without a chain of this family never loads it: it takes
 * a quarter of a second and 23 MiB. Rules are synchronous, and so is this. See decision 19.
 */
export function viemLibrary(): typeof Viem {
  if (loaded !== undefined) return loaded
  const library: typeof Viem = createRequire(import.meta.url)('viem')
  loaded = library
  return library
}
