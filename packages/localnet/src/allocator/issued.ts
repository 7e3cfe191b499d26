import {
  decodeEvmWithdrawal,
  type Hex,
  payloadHashes,
  type VmType,
  type WithdrawRequest,
  withdrawalTransfer,
  withdrawRequestPayloadId,
} from '@causeway/core'

/** A request and the payload that the allocator's contract built for it, as its events say. */
export type IssuedPayload = {
  readonly payloadId: Hex
  readonly request: WithdrawRequest
  readonly payload: Hex
}

/** Depositories that this signer's key may pay from. */
export type SignedDepository = {
  readonly vmType: VmType
  /** The chain's number on the hub. */
  readonly hubChainId: string
  readonly depository: string
}

export type Verdict =
  | { readonly kind: 'sign'; readonly hashes: readonly Hex[] }
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * What is signed for an issued payload. The contract's builder is not believed: a payload that pays
 * anything but its request, or under another id, gets no signature.
 * @throws InvalidWithdrawalError for a payload that cannot be read
 */
export function judgeIssued(
  { payloadId, request, payload }: IssuedPayload,
  depositories: readonly SignedDepository[],
): Verdict {
  if (withdrawRequestPayloadId(request) !== payloadId) return refuse('its request has another id')
  const place = depositories.find(
    ({ hubChainId, depository }) =>
      BigInt(hubChainId) === request.chainId && depository === request.depository,
  )
  if (place === undefined) return refuse('its depository is not signed for here')
  if (place.vmType !== 'ethereum-vm') return refuse('its family is not signed for here')
  const withdrawal = decodeEvmWithdrawal(payload)
  const { currency, amount, recipient } = withdrawalTransfer(withdrawal)
  const isPaid = currency === request.currency && amount === request.amount && recipient === request.recipient
  if (!isPaid) return refuse('its payload pays something else')
  if (withdrawal.nonce !== BigInt(payloadId)) return refuse('its payload has the nonce of another one')
  const { hubChainId, depository } = place
  return {
    kind: 'sign',
    hashes: payloadHashes(place.vmType, payload, { hubChainId: BigInt(hubChainId), depository }),
  }
}

function refuse(reason: string): Verdict {
  return { kind: 'refuse', reason }
}
