import type { Hex, InputEntry, Order } from '@causeway/core'
import {
  canonicalJson,
  depositsExecutionKey,
  encodeBurnAction,
  encodeMintAction,
  encodeTransferAction,
  hubAlias,
  hubTokenId,
  type NetworkOf,
  noFillOrRefundEntry,
  nonceMappingEntry,
  orderAddress,
  type ProtocolChain,
  recoveryKey,
  settlementExecutionKey,
  UnknownChainError,
  withdrawalAddress,
} from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import { normaliseWithdrawRequest } from '@causeway/families/rules'
import type {
  DepositsResponse,
  FillsResponse,
  NoFillOrRefundResponse,
  NonceMappingResponse,
  RecoveryResponse,
  RefundsResponse,
  RequestedWithdrawalsResponse,
  WithdrawalInitiatedResponse,
  WithdrawalInitiationResponse,
  WithdrawalsResponse,
} from './schemas.ts'
import { lowerCase } from './signatureEntries.ts'

/**
 * A request body that its route has validated. Each `isAbout…` function below is true if a peer's normalised response
 * is about the fact that a request asks for. Valid signatures do not prove that: a dishonest peer could replay what
 * honest oracles signed for another request, or put other unsigned members beside it. All functions may throw for an
 * unknown chain or a malformed address, which `AttestationKind.isAbout` takes for false.
 * @source rule P-91
 */
export type Request = Readonly<Record<string, unknown>>

const noOrder: Hex = `0x${'0'.repeat(64)}`

export function isAboutDeposits(
  { messages, execution, executionHeld }: DepositsResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
  const chain = chainOf(text(request['chainId']), networkOf)
  const { chainId } = chain
  const transactionId = canonicalId(chain, request['transactionId'])
  const isRequestedTransaction = messages.every(
    ({ data }) => data.chainId === chainId && data.transactionId === transactionId,
  )
  if (!isRequestedTransaction) return false
  // Only a transaction without deposits has neither an execution nor a reason why it is held.
  if (execution === undefined) return (executionHeld !== undefined) === messages.length > 0
  const { actions, metadata, idempotencyKey } = execution
  if (messages.length === 0 || actions.length !== messages.length) return false
  if (metadata.length !== messages.length) return false
  if (idempotencyKey !== depositsExecutionKey({ chainId, transactionId })) return false
  return messages.every(({ result, extraData }, index) => {
    const { depositor, depositId, currency, amount } = result
    const timestampSeconds = BigInt(extraData.timestamp)
    const hubTo =
      depositId === noOrder
        ? hubAlias(chain, depositor)
        : orderAddress(chain, { depositor, timestampSeconds, depositId })
    const token = hubTokenId(chain, currency)
    return (
      actions[index] === encodeMintAction({ hubTo, hubTokenId: token, amount: BigInt(amount) }) &&
      metadata[index]?.hubTokenId === token.toString() &&
      canonicalJson(metadata[index]?.origin) ===
        canonicalJson({ address: currency, chainId, family: chain.vmType })
    )
  })
}

export function isAboutWithdrawal(
  { message, execution }: WithdrawalsResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
  const { data, result } = message
  const chain = chainOf(text(request['chainId']), networkOf)
  if (data.chainId !== chain.chainId || data.withdrawal !== text(request['withdrawal']).toLowerCase()) {
    return false
  }
  const addressRequest = data.withdrawalAddressRequest
  if (canonicalJson(addressRequest) !== canonicalJson(request['withdrawalAddressRequest'])) return false
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

export function isAboutRequestedWithdrawal(
  { status, execution }: RequestedWithdrawalsResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
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
 * status (1 executed, 2 expired) requires. It does not check the idempotency key, which follows from the allocator's
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
  if (status === 1) return action === encodeBurnAction(moved)
  return status === 2 && action === encodeTransferAction({ ...moved, hubTo: ownerAlias })
}

export function isAboutFill(response: FillsResponse, request: Request, networkOf: NetworkOf): boolean {
  const { message, execution } = response
  const { order, fill } = message.data
  const requestedId = canonicalId(
    chainOf(order.output.chainId, networkOf),
    member(request['fill'], 'transactionId'),
  )
  if (fill.transactionId !== requestedId || !isAboutOrder(response, request, networkOf)) return false
  if (request['force'] === true || execution === undefined) return true
  // One transfer to the solver per input, one to the recipient per fee.
  return execution.actions.length === order.inputs.length + order.fees.length
}

export function isAboutRefund(response: RefundsResponse, request: Request, networkOf: NetworkOf): boolean {
  const { message, execution } = response
  const { order, refunds } = message.data
  const requestedRefunds = list(request['refunds'])
  const areRequestedRefunds = refunds.every((entry, index) => {
    const chainId = order.inputs[entry.inputIndex]?.refunds[entry.refundIndex]?.chainId ?? ''
    const transactionId = canonicalId(
      chainOf(chainId, networkOf),
      member(requestedRefunds[index], 'transactionId'),
    )
    const { inputIndex, refundIndex } = entry
    return (
      entry.transactionId === transactionId &&
      inputIndex === member(requestedRefunds[index], 'inputIndex') &&
      refundIndex === member(requestedRefunds[index], 'refundIndex')
    )
  })
  if (refunds.length !== requestedRefunds.length || !areRequestedRefunds) return false
  if (!isAboutOrder(response, request, networkOf)) return false
  if (request['force'] === true || execution === undefined) return true
  return execution.actions.length === order.inputs.length
}

/** Checks common to a fill and a refund: the order, its deposits, and the one idempotency key of both. */
function isAboutOrder(
  { message, execution, executionHeld }: FillsResponse | RefundsResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
  const { order, orderSignature, inputs } = message.data
  // The message's signature covers both the order and this id, so the order is not hashed again here.
  const { orderId } = message.result
  const isRequestedOrder =
    canonicalJson(order) === canonicalJson(request['order']) &&
    orderSignature.toLowerCase() === text(request['orderSignature']).toLowerCase()
  if (!isRequestedOrder || !areRequestedInputs(order, inputs, list(request['inputs']), networkOf))
    return false
  if (execution === undefined) return executionHeld !== undefined
  // A forced execution is of all deposits that name the order, not of one per input.
  if (request['force'] === true) return true
  const onchainIds = order.inputs.map(
    (_input, index) => inputs.find(({ inputIndex }) => inputIndex === index)?.onchainId ?? noOrder,
  )
  return execution.idempotencyKey === settlementExecutionKey({ onchainIds, orderId })
}

function areRequestedInputs(
  order: Order,
  inputs: readonly InputEntry[],
  requestedInputs: readonly unknown[],
  networkOf: NetworkOf,
): boolean {
  if (inputs.length !== requestedInputs.length) return false
  return inputs.every(({ transactionId, onchainId, inputIndex }, index) => {
    const entry = requestedInputs[index]
    const chainId = member(entry, 'chainId') ?? order.inputs[inputIndex]?.payment.chainId
    return (
      inputIndex === member(entry, 'inputIndex') &&
      lowerCase(onchainId) === text(member(entry, 'onchainId')).toLowerCase() &&
      transactionId === canonicalId(chainOf(text(chainId), networkOf), member(entry, 'transactionId'))
    )
  })
}

export function isAboutInitiation(
  { withdrawalAddress: hubTo, execution, executionHeld }: WithdrawalInitiationResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
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
export function isAboutInitiated(
  { payloadParams }: WithdrawalInitiatedResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
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
 * True if the allocator's spelling of the requested withdrawal is in the parameters. A request without a depository
 * leaves it to the oracles' configuration. Then `depository` and `data`, which may name it, are not compared, and the
 * recipient stands in for it, as the spelling needs some account.
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
  const comparedFields = hasDepository ? allocatorFields : allocatorFields.slice(0, 2)
  return comparedFields.every((name) => lowerCaseHex(payloadParams[name]) === lowerCaseHex(expected[name]))
}

/** Hex of a peer may be in either case; other texts are case-sensitive. */
function lowerCaseHex(account: string): string {
  return account.startsWith('0x') ? account.toLowerCase() : account
}

const allocatorFields = ['currency', 'recipient', 'depository', 'data'] as const

/** Checks the key, which names the deposit. The action's accounts follow from the deposit: signers vouch for them. */
export function isAboutRecovery({ execution, executionHeld }: RecoveryResponse, request: Request): boolean {
  if (execution === undefined) return executionHeld !== undefined
  const { idempotencyKey, actions } = execution
  return actions.length === 1 && idempotencyKey === recoveryKey(hex(request['onchainId']))
}

export function isAboutNoFillOrRefund({ genericMapping }: NoFillOrRefundResponse, request: Request): boolean {
  const { signatures: _signatures, ...entry } = genericMapping
  const promise = {
    solverChainId: text(request['solverChainId']),
    solver: hex(request['solver']),
    orderId: hex(request['orderId']),
  }
  return canonicalJson(entry) === canonicalJson(noFillOrRefundEntry(promise))
}

/** The entry follows from the request alone, so it is compared as a whole. */
export function isAboutNonceMapping(
  { genericMapping }: NonceMappingResponse,
  request: Request,
  networkOf: NetworkOf,
): boolean {
  const { signatures: _signatures, ...entry } = genericMapping
  const mapping = {
    walletChainId: text(request['walletChainId']),
    wallet: hex(request['wallet']),
    nonce: BigInt(text(request['nonce'])),
    id: hex(request['id']),
    depositor: hex(request['depositor']),
  }
  const expected = nonceMappingEntry(mapping, chainOf(mapping.walletChainId, networkOf))
  return canonicalJson(entry) === canonicalJson(expected)
}

function chainOf(chainId: string, networkOf: NetworkOf): ProtocolChain {
  const network = networkOf(chainId)
  if (network === undefined) throw new UnknownChainError(chainId)
  return { chainId, ...network }
}

function canonicalId(chain: ProtocolChain, transactionId: unknown): string {
  return codecOf(chain).canonicalTransactionId(text(transactionId))
}

/** The account in an action's second word, behind its type. */
function firstAccount(action: Hex): Hex {
  return `0x${action.slice(2 + 64 + 24, 2 + 128)}`
}

/** An action's amount. @throws SyntaxError for an action without words */
function lastWord(action: Hex): bigint {
  return BigInt(`0x${action.slice(2).slice(-64)}`)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A string that should be hex. It is not checked here: functions that need its bytes throw RangeError. */
function hex(value: unknown): Hex {
  return `0x${text(value).slice(2)}`
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
}
