import {
  type Hex,
  payloadHashes,
  payloadWithdrawal,
  type WithdrawRequest,
  withdrawRequestOf,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { chainOfPlace, paymentOf, requestedDepository, type SignedPlace } from './signedPlace.ts'

/** A request and the payload that the allocator's contract built for it, as its events say. */
export type IssuedPayload = {
  readonly payloadId: Hex
  readonly request: WithdrawRequest
  readonly payload: Hex
}

export type Verdict =
  | { readonly kind: 'sign'; readonly place: SignedPlace; readonly hashes: readonly Hex[] }
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * What is signed for an issued payload. The contract's builder is not believed: a payload gets a signature
 * only when the request that its own bytes are the payment of is the one that was issued, to the last byte.
 * @throws InvalidWithdrawalError, InvalidWithdrawRequestError, InvalidAddressError for a payload that cannot
 * be read
 */
export function judgeIssued(
  { payloadId, request, payload }: IssuedPayload,
  places: readonly SignedPlace[],
): Verdict {
  if (withdrawRequestPayloadId(request) !== payloadId) return refuse('its request has another id')
  const place = places.find(
    (one) => BigInt(one.hubChainId) === request.chainId && requestedDepository(one) === request.depository,
  )
  if (place === undefined) return refuse('its depository is not signed for here')
  const { nonce, isOfPlace, ...paid } = paymentOf(place, payload)
  const { spender, depository, chainId: hubChainId } = request
  const asked = { ...paid, spender, depository: place.depository, nonce: BigInt(request.nonce) }
  const derived = withdrawRequestOf(chainOfPlace(place), payloadWithdrawal(place.vmType, payload), asked)
  if (!isOfPlace || withdrawRequestPayloadId(derived) !== payloadId) {
    return refuse('its payload pays something else')
  }
  if (nonce !== undefined && nonce !== nonceOf(place, payloadId)) {
    return refuse('its payload has the nonce of another one')
  }
  return { kind: 'sign', place, hashes: payloadHashes(place.vmType, payload, { hubChainId, depository }) }
}

/** The program on Solana has room for the low 64 bits. */
function nonceOf({ vmType }: SignedPlace, payloadId: Hex): bigint {
  return BigInt.asUintN(vmType === 'solana-vm' ? 64 : 256, BigInt(payloadId))
}

function refuse(reason: string): Verdict {
  return { kind: 'refuse', reason }
}
