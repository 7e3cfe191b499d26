import {
  type Hex,
  hubTokenId,
  type WithdrawRequest,
  withdrawalAddress,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { payloadHashes, payloadWithdrawal, withdrawRequestOf } from '@causeway/families/rules'
import { chainOfPlace, paymentOf, requestedDepository, type SignedPlace } from './signedPlace.ts'

/** A request and the payload that the allocator's contract built for it, as its events say. */
export type IssuedPayload = {
  readonly payloadId: Hex
  readonly request: WithdrawRequest
  readonly payload: Hex
}

export type Verdict =
  | {
      readonly kind: 'sign'
      readonly place: SignedPlace
      readonly hashes: readonly Hex[]
      readonly backing: Backing
    }
  | { readonly kind: 'refuse'; readonly reason: string }

/** Balance on the hub that must back a payload. */
export type Backing = {
  /** The withdrawal address, which holds the money until it is paid. */
  readonly holder: Hex
  readonly hubTokenId: bigint
  readonly amount: bigint
}

/** State of a payload on the hub at one final height. */
export type HubState = {
  readonly payload: Hex
  /** The one payload of its spender's nonce. */
  readonly named: Hex
  /** Balance of the withdrawal address. */
  readonly balance: bigint
}

/**
 * Verdict on an issued payload. The contract's builder is not trusted: a payload is signed only if its own bytes pay
 * exactly the request that was issued, to the last byte.
 * @throws InvalidWithdrawalError, InvalidWithdrawRequestError, InvalidAddressError for a payload that cannot be read
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
  const terms = { ...paid, spender, depository: place.depository, nonce: BigInt(request.nonce) }
  const derived = withdrawRequestOf(chainOfPlace(place), payloadWithdrawal(place.vmType, payload), terms)
  if (!isOfPlace || withdrawRequestPayloadId(derived) !== payloadId) {
    return refuse('its payload pays something else')
  }
  if (nonce !== undefined && nonce !== nonceOf(place, payloadId)) {
    return refuse('its payload has the nonce of another one')
  }
  const chain = chainOfPlace(place)
  const { currency, recipient } = paid
  const { amount, nonce: ownNonce } = request
  const account = { depository: place.depository, currency, recipient, ownerAlias: spender }
  return {
    kind: 'sign',
    place,
    hashes: payloadHashes(place.vmType, payload, { hubChainId, depository }),
    backing: {
      holder: withdrawalAddress(chain, { ...account, nonce: BigInt(ownNonce) }),
      hubTokenId: hubTokenId(chain, currency),
      amount,
    },
  }
}

/**
 * Reason that the hub's state forbids a signature; `undefined` if it backs the payload. An event alone proves nothing:
 * the state must have the payload, under its spender's nonce, and the money that it pays.
 */
export function lacksBacking(
  { payloadId, payload }: Pick<IssuedPayload, 'payloadId' | 'payload'>,
  { amount }: Pick<Backing, 'amount'>,
  state: HubState,
): string | undefined {
  if (state.payload !== payload) return 'the hub holds other bytes for it'
  if (state.named !== payloadId) return 'the hub names another payload for its nonce'
  return state.balance < amount ? 'the hub does not hold what it pays' : undefined
}

/** The program on Solana has room for the low 64 bits. */
function nonceOf({ vmType }: SignedPlace, payloadId: Hex): bigint {
  return BigInt.asUintN(vmType === 'solana-vm' ? 64 : 256, BigInt(payloadId))
}

function refuse(reason: string): Verdict {
  return { kind: 'refuse', reason }
}
