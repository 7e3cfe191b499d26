import type { Hex, PayloadPayer, WithdrawRequest } from '@causeway/core'
import type { ChainNetwork, VmType } from '@causeway/core/encodings'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import { families } from './families.ts'
import { normaliseWithdrawRequest } from './withdrawRequest.ts'

// Payloads: the bytes that an allocator issues for a withdraw request. Withdrawal bytes of a caller only select which
// request is looked up, and are compared with the issued payload; they are never trusted (rule P-117).

/** A requested withdrawal; addresses are in the family's canonical spelling. */
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
 * The withdraw request whose payload these bytes would be. Its hash is the id under which the allocator is asked.
 * @throws InvalidAddressError, InvalidWithdrawalError, InvalidWithdrawRequestError
 */
export function withdrawRequestOf(
  chain: RequestedChain,
  withdrawal: Hex,
  requested: RequestedWithdrawal,
): WithdrawRequest {
  const familyData = families[chain.vmType].allocatorPayload.additionalData(withdrawal)
  const additionalData = familyData === undefined ? undefined : { [chain.vmType]: familyData }
  return spelledWithdrawRequest(chain, requested, additionalData)
}

/**
 * The withdraw request as the allocator's contract takes it, with texts spelled as that expects.
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
export function payloadHashes(vmType: VmType, payload: Hex, payer: PayloadPayer): readonly Hex[] {
  return families[vmType].allocatorPayload.hashes(payload, payer)
}

/** An issued payload as withdrawal bytes, which the family's reader takes. @throws InvalidWithdrawalError */
export function payloadWithdrawal(vmType: VmType, payload: Hex): Hex {
  return families[vmType].allocatorPayload.toWithdrawal(payload)
}

/**
 * Name of the first member in which withdrawal bytes differ from an issued payload; `undefined` if both are the same
 * withdrawal, `payload` if the issued payload cannot be read. @throws InvalidWithdrawalError if the bytes cannot be
 * read
 */
export function payloadDifference(vmType: VmType, withdrawal: Hex, payload: Hex): string | undefined {
  const { difference, toWithdrawal } = families[vmType].allocatorPayload
  try {
    // Compares the payload with itself, only to see whether it can be read.
    difference(toWithdrawal(payload), payload)
  } catch (error) {
    if (error instanceof InvalidWithdrawalError) return 'payload'
    throw error
  }
  return difference(withdrawal, payload)
}
