import {
  type Hex,
  hubTokenId,
  type WithdrawRequest,
  withdrawalAddress,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { payloadHashes, payloadWithdrawal, withdrawRequestOf } from '@causeway/families/rules'
import { chainOfPayer, type PayingDepository, paymentOf, requestedDepository } from './payingDepository.ts'

/** A withdraw request and the payload that the allocator's contract built for it, as its events tell. */
export type IssuedPayload = {
  readonly payloadId: Hex
  readonly request: WithdrawRequest
  readonly payload: Hex
}

/** Decision whether the allocator may sign a payload, by its bytes alone; `backingProblem` then judges the hub's state. */
export type Verdict =
  | {
      readonly kind: 'sign'
      readonly payer: PayingDepository
      /** Hashes to sign: one, or for Bitcoin one per input. */
      readonly hashes: readonly Hex[]
      readonly backing: Backing
    }
  | { readonly kind: 'refuse'; readonly reason: string }

/** Balance on the hub that must exist before a payload is signed. */
export type Backing = {
  /** The withdrawal address, which holds the money until it is paid. */
  readonly holder: Hex
  readonly hubTokenId: bigint
  readonly amount: bigint
}

/** State of a payload in the hub's contracts at one final height. */
export type HubState = {
  /** Bytes that the allocator's contract keeps for the payload id. */
  readonly payload: Hex
  /** Payload id that the contract has for the request's spender and nonce: each pair has one. */
  readonly payloadIdOfNonce: Hex
  /** Balance of `Backing.holder` in the token. */
  readonly balance: bigint
}

/**
 * Verdict on an issued payload. The contract that built it is not trusted, so four things must hold: the
 * request has the id under which the payload was issued; it names a depository of `payers`; the request that
 * the payload's bytes pay, derived here, has that id as well, so it is exactly the issued one; and the
 * payload's own nonce, if it has one, is that id. The money must then lie at the withdrawal address of the
 * spender, the owner's account on the hub.
 * @throws InvalidWithdrawalError, InvalidWithdrawRequestError, InvalidAddressError for a payload that cannot be read
 */
export function judgeIssued(
  { payloadId, request, payload }: IssuedPayload,
  payers: readonly PayingDepository[],
): Verdict {
  if (withdrawRequestPayloadId(request) !== payloadId) return refuse('its request has another id')
  const payer = payers.find(
    (one) => BigInt(one.hubChainId) === request.chainId && requestedDepository(one) === request.depository,
  )
  if (payer === undefined) return refuse('its depository is not signed for here')
  const { currency, recipient, amount, nonce: payloadNonce, isOfPayer } = paymentOf(payer, payload)
  const { spender } = request
  const chain = chainOfPayer(payer)
  // The spender and the nonce are taken from the request, because no payload has them: the nonce in a payload
  // is another one, its payload id, which is compared below.
  const paidTerms = { depository: payer.depository, currency, recipient, nonce: BigInt(request.nonce) }
  const paidRequest = withdrawRequestOf(chain, payloadWithdrawal(payer.vmType, payload), {
    ...paidTerms,
    amount,
    spender,
  })
  if (!isOfPayer || withdrawRequestPayloadId(paidRequest) !== payloadId) {
    return refuse('its payload pays something else')
  }
  if (payloadNonce !== undefined && payloadNonce !== requiredNonce(payer, payloadId)) {
    return refuse('its payload has the nonce of another one')
  }
  const { chainId: hubChainId, depository } = request
  return {
    kind: 'sign',
    payer,
    hashes: payloadHashes(payer.vmType, payload, { hubChainId, depository }),
    backing: {
      holder: withdrawalAddress(chain, { ...paidTerms, ownerAlias: spender }),
      hubTokenId: hubTokenId(chain, currency),
      amount: request.amount,
    },
  }
}

/**
 * Reason for which the hub's state forbids a signature; `undefined` if there is none. Events alone prove nothing: the
 * state must have the payload, under its spender's nonce, and the money that it pays.
 */
export function backingProblem(
  { payloadId, payload }: Pick<IssuedPayload, 'payloadId' | 'payload'>,
  { amount }: Pick<Backing, 'amount'>,
  state: HubState,
): string | undefined {
  if (state.payload !== payload) return 'the hub holds other bytes for it'
  if (state.payloadIdOfNonce !== payloadId) return 'the hub names another payload for its nonce'
  return state.balance < amount ? 'the hub does not hold what it pays' : undefined
}

/** Nonce that a payload must have: its id, of which Solana's program has only the low 64 bits. */
function requiredNonce({ vmType }: PayingDepository, payloadId: Hex): bigint {
  return BigInt.asUintN(vmType === 'solana-vm' ? 64 : 256, BigInt(payloadId))
}

function refuse(reason: string): Verdict {
  return { kind: 'refuse', reason }
}
