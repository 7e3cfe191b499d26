import {
  canonicalJson,
  encodeBurnAction,
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  type ProtocolChain,
  withdrawalAddress,
} from '@causeway/core'
import { normaliseWithdrawRequest } from '@causeway/families/rules'
import { chainOf, type IsAbout, members, type Request, text } from './requestMembers.ts'
import type {
  RequestedWithdrawalsResponse,
  WithdrawalInitiatedResponse,
  WithdrawalInitiationResponse,
  WithdrawalsResponse,
} from './schemas.ts'

/**
 * The functions of this file are true if a peer's normalised response is about the withdrawal that a request asks for.
 * See `isAboutDeposits`.
 * @source rule P-91
 */
export const isAboutWithdrawal: IsAbout<WithdrawalsResponse> = (
  { message, execution },
  request,
  networkOf,
) => {
  const { data, result } = message
  const chain = chainOf(text(request['chainId']), networkOf)
  if (data.chainId !== chain.chainId || data.withdrawal !== text(request['withdrawal']).toLowerCase()) {
    return false
  }
  const addressRequest = data.withdrawalAddressRequest
  if (canonicalJson(addressRequest) !== canonicalJson(request['withdrawalAddressRequest'])) return false
  // There is no execution while the withdrawal is pending, or held, or without an address to settle.
  if (execution === undefined) return true
  if (addressRequest === undefined) return false
  const { currency, recipient, withdrawer, withdrawerChainId, withdrawalNonce } = addressRequest
  return settlesWithdrawal(execution.actions, {
    chain,
    status: result.status,
    currency,
    recipient,
    nonce: BigInt(withdrawalNonce),
    ownerAlias: hubAlias(chainOf(withdrawerChainId, networkOf), withdrawer),
    depository: addressRequest.depository ?? result.depository,
  })
}

export const isAboutRequestedWithdrawal: IsAbout<RequestedWithdrawalsResponse> = (
  { status, execution },
  request,
  networkOf,
) => {
  // Pending or held: nothing is signed, so no signature can be of another withdrawal.
  if (execution === undefined) return true
  const ownerChain = chainOf(text(request['ownerChainId']), networkOf)
  const depository = request['depository']
  return settlesWithdrawal(execution.actions, {
    chain: chainOf(text(request['chainId']), networkOf),
    status,
    currency: text(request['currency']),
    recipient: text(request['recipient']),
    nonce: BigInt(text(request['nonce'])),
    ownerAlias: hubAlias(ownerChain, text(request['owner'])),
    depository: depository === undefined ? undefined : text(depository),
    amount: BigInt(text(request['amount'])),
  })
}

/** Statuses of withdrawals in messages. */
const [executed, expired] = [1, 2]

type SettledWithdrawal = {
  readonly chain: ProtocolChain
  readonly status: number
  readonly currency: string
  readonly recipient: string
  readonly nonce: bigint
  readonly ownerAlias: Hex
  /** Undefined where the request names none: the withdrawal address then cannot be checked. */
  readonly depository: string | undefined
  /** Absent where the request names none: the amount then cannot be checked, and the signers vouch for it. */
  readonly amount?: bigint
}

/**
 * True if the single action burns the balance of the request's withdrawal address, or returns it to the owner, as the
 * status requires. It does not check the idempotency key, which follows from the allocator's
 * payload: signers vouch for it, and an allocator issues one payload per withdrawal address.
 */
function settlesWithdrawal(actions: readonly Hex[], withdrawal: SettledWithdrawal): boolean {
  const { chain, status, currency, depository, ownerAlias } = withdrawal
  const [action, ...others] = actions
  if (action === undefined || others.length > 0) return false
  const hubFrom =
    depository === undefined ? firstAccount(action) : withdrawalAddress(chain, { ...withdrawal, depository })
  const amount = withdrawal.amount ?? lastWord(action)
  const moved = { hubFrom, hubTokenId: hubTokenId(chain, currency), amount }
  if (status === executed) return action === encodeBurnAction(moved)
  return status === expired && action === encodeTransferAction({ ...moved, hubTo: ownerAlias })
}

/** The account in an action's second word, behind the word of its type and 24 digits of padding. */
function firstAccount(action: Hex): Hex {
  return `0x${action.slice(2 + 64 + 24, 2 + 128)}`
}

/** An action's amount. @throws SyntaxError for an action without words */
function lastWord(action: Hex): bigint {
  return BigInt(`0x${action.slice(2).slice(-64)}`)
}

export const isAboutInitiation: IsAbout<WithdrawalInitiationResponse> = (
  { withdrawalAddress: hubTo, execution, executionHeld },
  request,
  networkOf,
) => {
  const chain = chainOf(text(request['chainId']), networkOf)
  const owner = text(request['owner'])
  const hubFrom = hubAlias(chainOf(text(request['ownerChainId']), networkOf), owner)
  const currency = text(request['currency'])
  const action = encodeTransferAction({
    hubFrom,
    hubTo,
    hubTokenId: hubTokenId(chain, currency),
    amount: BigInt(text(request['amount'])),
  })
  const isHeld = execution === undefined && executionHeld !== undefined
  const isRequestedAction = execution?.actions.length === 1 && execution.actions[0] === action
  if (!isRequestedAction && !isHeld) return false
  // Without a depository in the request the withdrawal address cannot be computed here.
  if (request['depository'] === undefined) return true
  const withdrawal = {
    depository: text(request['depository']),
    currency,
    recipient: text(request['recipient']),
    ownerAlias: hubFrom,
    nonce: BigInt(text(request['nonce'])),
  }
  return hubTo === withdrawalAddress(chain, withdrawal)
}

/** Does not check `payloadParams.chainId`, the chain's number, which follows from configuration: signers vouch for it. */
export const isAboutInitiated: IsAbout<WithdrawalInitiatedResponse> = (
  { payloadParams },
  request,
  networkOf,
) => {
  const chain = chainOf(text(request['chainId']), networkOf)
  const ownerChain = chainOf(text(request['ownerChainId']), networkOf)
  const { amount, nonce, spender } = payloadParams
  const requestedNonce = BigInt(text(request['nonce'])).toString(16).padStart(64, '0')
  return (
    nonce === `0x${requestedNonce}` &&
    BigInt(amount) === BigInt(text(request['amount'])) &&
    spender.toLowerCase() === hubAlias(ownerChain, text(request['owner'])) &&
    isSpeltForAllocator(payloadParams, request, chain)
  )
}

/**
 * True if the allocator's spelling of the requested withdrawal is in the parameters. If the request names no
 * depository, the oracles' configuration decides which one it is. Then `depository`, and `data`, which may
 * contain it, are not compared; the recipient stands in its place, because the spelling needs some account.
 */
function isSpeltForAllocator(
  payloadParams: WithdrawalInitiatedResponse['payloadParams'],
  request: Request,
  chain: ProtocolChain,
): boolean {
  const [currency, recipient] = [text(request['currency']), text(request['recipient'])]
  const hasDepository = request['depository'] !== undefined
  const expected = normaliseWithdrawRequest(chain, {
    currency,
    recipient,
    additionalData: members(request['additionalData']),
    depository: hasDepository ? text(request['depository']) : recipient,
  })
  const fieldsOfDepository = hasDepository ? (['depository', 'data'] as const) : []
  const comparedFields = ['currency', 'recipient', ...fieldsOfDepository] as const
  return comparedFields.every((name) => lowerCaseHex(payloadParams[name]) === lowerCaseHex(expected[name]))
}

/** Hex of a peer may be in either case; other texts are case-sensitive. */
function lowerCaseHex(text: string): string {
  return text.startsWith('0x') ? text.toLowerCase() : text
}
