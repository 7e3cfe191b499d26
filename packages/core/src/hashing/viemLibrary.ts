import { createRequire } from 'node:module'
import type * as Viem from 'viem'

let loaded: typeof Viem | undefined

/**
 * viem, loaded at the first call: loading takes a quarter of a second and 23 MiB, which services that never need it
 * save. Synchronous, because the pure rules that call it are. See decision 19.
 */
export function viemLibrary(): typeof Viem {
  if (loaded !== undefined) return loaded
  const library: typeof Viem = createRequire(import.meta.url)('viem')
  loaded = library
  return library
}
