import { createRequire } from 'node:module'
import type * as SolanaWeb3 from '@solana/web3.js'

let loaded: typeof SolanaWeb3 | undefined

/**
 * web3.js, loaded when it is first called, so that a service that reads nothing of Solana never loads it: it takes a sixth
 * of a second and 25 MiB. Rules are synchronous, and so is this. See decision 15.
 */
export function solanaLibrary(): typeof SolanaWeb3 {
  if (loaded !== undefined) return loaded
  const library: typeof SolanaWeb3 = createRequire(import.meta.url)('@solana/web3.js')
  loaded = library
  return library
}
