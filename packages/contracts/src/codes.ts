// What services compare at start: a part of its own, because the rest loads viem.
import type { Hex } from '@causeway/core'
import { codeHashOf } from './codeHash.ts'
import { shippedCodes } from './codes.generated.ts'
import type { DeployedName } from './renderCodes.ts'

export type { DeployedName } from './renderCodes.ts'

/** What stands at an address: nothing, this release's contract, or something else. */
export type CodeState = 'missing' | 'ours' | 'foreign'

/** @param code as a chain tells it @throws RangeError when it is no hex */
export function codeStateOf(name: DeployedName, code: Hex | undefined): CodeState {
  if (code === undefined || code === '0x') return 'missing'
  const { codeHash, immutables } = shippedCodes[name]
  return codeHashOf(code, immutables) === codeHash ? 'ours' : 'foreign'
}
