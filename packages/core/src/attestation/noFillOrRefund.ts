import { checksumAddress } from '../encodings/checksumAddress.ts'
import { mainNetwork } from '../encodings/codecs.ts'
import { sha256TextHex } from '../hashing/sha256.ts'
import type { Hex } from '../hex.ts'
import type { MappingEntry } from '../signatures/execution.ts'
import type { NoFillOrRefund } from '../signatures/noFillOrRefund.ts'
import { hubAlias } from './hubIds.ts'

/** Data of a mapping entry on the hub that records a promise. */
export const noFillOrRefundData: Hex = '0x01'

/** Key of the promise on the hub: the solver's account there, and the order's id under that account. */
export function noFillOrRefundPlace({ solverChainId, solver, orderId }: NoFillOrRefund): {
  readonly user: Hex
  readonly id: Hex
} {
  return {
    user: hubAlias({ chainId: solverChainId, ...mainNetwork('ethereum-vm') }, solver.toLowerCase()),
    id: sha256TextHex(`NO_FILL_OR_REFUND:${orderId.toLowerCase()}`),
  }
}

/** The entry that the oracles sign for a promise. One order has one, however its id is spelled. */
export function noFillOrRefundEntry(promise: NoFillOrRefund): MappingEntry {
  const { user, id } = noFillOrRefundPlace(promise)
  const nonce = sha256TextHex(`${checksumAddress(user)}:${promise.orderId.toLowerCase()}`)
  return { user, id, data: noFillOrRefundData, nonce }
}
