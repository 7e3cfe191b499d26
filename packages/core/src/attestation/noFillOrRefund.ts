import { checksumAddress } from '../encodings/checksumAddress.ts'
import { mainNetwork } from '../encodings/codecs.ts'
import { sha256TextHex } from '../hashing/sha256.ts'
import type { Hex } from '../hex.ts'
import type { MappingEntry } from '../signatures/execution.ts'
import type { NoFillOrRefund } from '../signatures/noFillOrRefund.ts'
import { hubAlias } from './hubIds.ts'

/** Data of the entry that records a promise in the hub's generic mapping. */
export const noFillOrRefundData: Hex = '0x01'

/**
 * Key of a promise in the mapping: the hub alias of the solver, an EVM account, and under it an id made of
 * the order id.
 */
export function noFillOrRefundEntryKey({ solverChainId, solver, orderId }: NoFillOrRefund): {
  readonly user: Hex
  readonly id: Hex
} {
  return {
    user: hubAlias({ chainId: solverChainId, ...mainNetwork('ethereum-vm') }, solver.toLowerCase()),
    id: sha256TextHex(`NO_FILL_OR_REFUND:${orderId.toLowerCase()}`),
  }
}

/**
 * The entry that oracles sign for a promise: one for each order, as its nonce ignores the spelling of the
 * order id. The alias enters the nonce in its EIP-55 spelling: all oracles must hash the same text.
 */
export function noFillOrRefundEntry(promise: NoFillOrRefund): MappingEntry {
  const { user, id } = noFillOrRefundEntryKey(promise)
  const nonce = sha256TextHex(`${checksumAddress(user)}:${promise.orderId.toLowerCase()}`)
  return { user, id, data: noFillOrRefundData, nonce }
}
