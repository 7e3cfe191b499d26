import { createRequire } from 'node:module'
import type * as Viem from './viemParts.ts'

let loaded: typeof Viem | undefined

/**
 * viem, loaded at the first call, which saves time and memory of services that never need it. Synchronous, because the
 * pure rules that call it are. See decision 19.
 */
export function viemLibrary(): typeof Viem {
  if (loaded !== undefined) return loaded
  const library: typeof Viem = createRequire(import.meta.url)('./viemParts.ts')
  loaded = library
  return library
}
