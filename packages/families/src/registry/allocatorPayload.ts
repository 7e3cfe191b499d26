import type { Hex, PayloadPlace, WithdrawRequest } from '@causeway/core'
import type { ChainNetwork, VmType } from '@causeway/core/encodings'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import { families } from './families.ts'
import { normaliseWithdrawRequest } from './withdrawRequest.ts'

// The bytes that an allocator issues for a withdraw request. Bytes that a caller hands in choose which request is
// looked up and are compared with what was issued; they are never believed. Source: withdrawals.md 1.1, 1.3, 5.

/** Requested withdrawal, in the family's canonical spelling. */
export type RequestedWithdrawal = {
  readonly depository: string
  readonly currency: string
  /** Smallest unit of the currency. */
  readonly amount: bigint
  readonly recipient: string
  /** The owner's account on the hub. */
  readonly spender: Hex
  readonly nonce: bigint
}

type RequestedChain = ChainNetwork & { readonly hubChainId: string }

/**
 * The withdraw request whose payload these bytes would be: what its id is looked up by.
 * @throws InvalidAddressError, InvalidWithdrawalError, InvalidWithdrawRequestError
 */
export function withdrawRequestOf(
  chain: RequestedChain,
  withdrawal: Hex,
  requested: RequestedWithdrawal,
): WithdrawRequest {
  const own = families[chain.vmType].allocatorPayload.additionalData(withdrawal)
  return spelledWithdrawRequest(chain, requested, own === undefined ? undefined : { [chain.vmType]: own })
}

/**
 * The request as an allocator gets it.
 * @throws InvalidAddressError, InvalidWithdrawRequestError
 */
export function spelledWithdrawRequest(
  chain: RequestedChain,
  { depository, currency, amount, recipient, spender, nonce }: RequestedWithdrawal,
  additionalData?: Readonly<Record<string, unknown>>,
): WithdrawRequest {
  const plain = { depository, currency, recipient, ...(additionalData !== undefined && { additionalData }) }
  const spelled = normaliseWithdrawRequest(chain, plain)
  return {
    chainId: BigInt(chain.hubChainId),
    depository: spelled.depository,
    currency: spelled.currency,
    amount,
    spender,
    recipient: spelled.recipient,
    data: spelled.data,
    nonce: `0x${nonce.toString(16).padStart(64, '0')}`,
  }
}

/** Hashes that an allocator signs for a payload, in order. @throws InvalidWithdrawalError */
export function payloadHashes(vmType: VmType, payload: Hex, place: PayloadPlace): readonly Hex[] {
  return families[vmType].allocatorPayload.hashes(payload, place)
}

/** A payload as the bytes that the family's reader understands. @throws InvalidWithdrawalError */
export function payloadWithdrawal(vmType: VmType, payload: Hex): Hex {
  return families[vmType].allocatorPayload.toWithdrawal(payload)
}

/**
 * The first member in which bytes differ from an issued payload; `undefined` where both are the same
 * withdrawal, `payload` where what was issued cannot be read. @throws InvalidWithdrawalError for the bytes
 */
export function payloadDifference(vmType: VmType, withdrawal: Hex, payload: Hex): string | undefined {
  const { difference, toWithdrawal } = families[vmType].allocatorPayload
  try {
    difference(toWithdrawal(payload), payload)
  } catch (error) {
    if (error instanceof InvalidWithdrawalError) return 'payload'
    throw error
  }
  return difference(withdrawal, payload)
}
