import { formatAmount, type Hex } from '@causeway/core'
import {
  type Authorization,
  type DepositAddressTerms,
  type EncodedTransaction,
  type PermitKind,
  type PermitTerms,
  type PermitTypedData,
  type PermittedCall,
  type PlannedTransaction,
  permitTypedData,
  type StepData,
  type StepIdentity,
  type UserTransactionKind,
} from '@causeway/families/rules'
import type { PricedRoute } from '../../pricing/pricedRoute.ts'
import type { PricedRequest } from '../../pricing/priceRequest.ts'

/** The steps of a quote, and the calls by which the transactions of a user who executes alone are recognized. */
export type BuiltSteps = {
  readonly steps: readonly Step[]
  /** Calls of all transactions except approvals, in order. */
  readonly calls: readonly NonNullable<EncodedTransaction['call']>[]
}

/**
 * Turns the planned transactions of a quote into the steps that the user executes in this order. The origin's family
 * encodes them. Where it needs the user's authorization of a transaction, that is a step before it.
 * @throws the refusal of a planned transaction
 */
export function buildSteps(priced: PricedRequest, identity: StepIdentity): BuiltSteps {
  const { quoting } = priced.route.origin
  const binding = { identity, fees: priced.originMarket.fees }
  const built = priced.transactions.map((planned) => {
    if (planned.refusal !== undefined) throw planned.refusal
    const { data, call } = quoting.encode(planned, priced.origin, binding)
    const authorization = quoting.authorization?.(planned, priced.origin, identity)
    const authorizeSteps =
      authorization === undefined ? [] : [authorizeStep(priced, identity.requestId, authorization)]
    return { call, authorizeSteps, step: toStep(priced, identity, { planned, data }) }
  })
  return {
    steps: built.flatMap(({ authorizeSteps, step }) => [...authorizeSteps, step]),
    calls: built.flatMap(({ step, call }) => (step.id === 'approve' || call === undefined ? [] : [call])),
  }
}

/** Calls that the solver sends to relay a permit: those of a depositing user who has given no allowance. */
export function relayedCalls(priced: PricedRequest, identity: StepIdentity): readonly PermittedCall[] {
  const { quoting } = priced.route.origin
  const route = { ...priced.origin, by: 'deposit' as const }
  const binding = { identity, fees: priced.originMarket.fees }
  return quoting.plan(route, { allowance: 0n }).flatMap((planned) => {
    const { call } = quoting.encode(planned, route, binding)
    return call === undefined ? [] : [call]
  })
}

function toStep(
  priced: PricedRequest,
  identity: StepIdentity,
  { planned, data }: Pick<EncodedTransaction, 'data'> & { readonly planned: PlannedTransaction },
): TransactionStep {
  const id = stepIds[planned.kind]
  const { action, description } = describeStep(priced, planned)
  return {
    id,
    action,
    description,
    kind: 'transaction',
    requestId: identity.requestId,
    // A deposit step always has this field, empty where the depository is paid directly.
    ...(id === 'deposit' && { depositAddress: identity.depositAddress ?? '' }),
    ...(id === 'deposit' && identity.depositTerms && { depositTerms: identity.depositTerms }),
    // An approve step has no check: the public client would poll the intent before its deposit exists.
    items: [
      id === 'approve'
        ? { status: 'incomplete', data }
        : { status: 'incomplete', data, check: statusCheck(identity.requestId) },
    ],
  }
}

const stepIds: Readonly<Record<UserTransactionKind, TransactionStep['id']>> = {
  'reset-approval': 'approve',
  approve: 'approve',
  deposit: 'deposit',
  'deposit-transfer': 'deposit',
  'pay-address': 'deposit',
  'swap-deposit': 'deposit',
  swap: 'swap',
  wrap: 'swap',
  unwrap: 'swap',
  'send-input': 'send',
  'send-output': 'send',
}

function describeStep(
  priced: PricedRequest,
  { kind, allowed = 0n }: PlannedTransaction,
): { action: string; description: string } {
  const { currencyIn, currencyOut } = priced.route
  const input = `${formatAmount(priced.amountIn, currencyIn.decimals)} ${currencyIn.symbol}`
  const output = `${formatAmount(priced.amountOut, currencyOut.decimals)} ${currencyOut.symbol}`
  switch (kind) {
    case 'reset-approval':
      return {
        action: `Reset ${currencyIn.symbol} approval`,
        description: `Clear the present allowance of ${currencyIn.symbol}`,
      }
    case 'approve':
      return {
        action: `Approve ${currencyIn.symbol}`,
        description:
          // Permit2 is allowed everything once, whatever is open.
          priced.origin.by !== 'permit2' && allowed > priced.amountInMax
            ? `Allow ${input} to be taken, and what your other open quotes take`
            : `Allow ${input} to be taken`,
      }
    case 'deposit':
    case 'deposit-transfer':
      return { action: `Deposit ${currencyIn.symbol}`, description: `Deposit ${input} for the order` }
    case 'pay-address':
      return { action: `Send ${currencyIn.symbol}`, description: `Send ${input} to the deposit address` }
    case 'swap-deposit':
      return {
        action: `Swap and deposit ${currencyIn.symbol}`,
        description: `Swap ${input} and deposit the result for the order`,
      }
    case 'swap':
      return { action: `Swap ${currencyIn.symbol}`, description: `Swap ${input} for ${output}` }
    case 'wrap':
      return { action: `Wrap ${currencyIn.symbol}`, description: `Wrap ${input}` }
    case 'unwrap':
      return { action: `Unwrap ${currencyIn.symbol}`, description: `Unwrap ${input}` }
    case 'send-input':
      return { action: `Send ${currencyIn.symbol}`, description: `Send ${input} to the recipient` }
    case 'send-output':
      return { action: `Send ${currencyOut.symbol}`, description: `Send ${output} to the recipient` }
  }
}

type SignaturePost = {
  readonly kind: PermitKind
  readonly requestId: Hex
  readonly api: 'bridge' | 'swap' | 'user-swap'
}

/**
 * Typed data to sign, and the request that sends the signature.
 * @source github.com/relayprotocol/relay-kit, packages/sdk/src/types/api.ts
 */
type StepSignature = {
  readonly chainId: number
  readonly sign: { readonly signatureKind: 'eip712' } & PermitTypedData
  readonly post: {
    readonly endpoint: '/execute/permits'
    readonly method: 'POST'
    readonly body: SignaturePost
  }
}

/** Request that a client repeats until the step is done. */
type Check = { readonly endpoint: string; readonly method: 'GET' }

type StepOf<Id, Kind, Data> = {
  readonly id: Id
  readonly action: string
  readonly description: string
  readonly kind: Kind
  readonly requestId: Hex
  readonly depositAddress?: string
  readonly depositTerms?: DepositAddressTerms
  readonly items: readonly {
    readonly status: 'incomplete'
    readonly data: Data
    readonly check?: Check
  }[]
}

/** Step of transactions that the user sends. */
export type TransactionStep = StepOf<'approve' | 'deposit' | 'swap' | 'send', 'transaction', StepData>
export type SignatureStep = StepOf<'authorize1' | 'authorize2', 'signature', StepSignature>
/** Signature that binds a transfer without order id to its order; it precedes the transfer. @source rule F-153 */
type AuthorizeStep = StepOf<'authorize', 'signature', Authorization>
export type Step = TransactionStep | SignatureStep | AuthorizeStep

/** The step has no check, because the public client would poll the intent before its deposit exists. */
function authorizeStep(
  { route: { currencyIn }, amountIn }: PricedRoute,
  requestId: Hex,
  data: Authorization,
): AuthorizeStep {
  const input = `${formatAmount(amountIn, currencyIn.decimals)} ${currencyIn.symbol}`
  return {
    id: 'authorize',
    action: `Authorize ${currencyIn.symbol}`,
    description: `Sign that your transfer of ${input} is for this order`,
    kind: 'signature',
    requestId,
    items: [{ status: 'incomplete', data }],
  }
}

/** Status request that clients poll until the request ends. */
function statusCheck(requestId: Hex): Check {
  return { endpoint: `/intents/status/v3?requestId=${requestId}`, method: 'GET' }
}

/**
 * The step by which the user signs a permit instead of sending a deposit: typed data to sign, and the request that takes the
 * signature. The step's id and `api` are words of the published interface.
 * @source docs/concepts/permits.md; github.com/relayprotocol/relay-kit, packages/sdk/src/types/api.ts
 */
export function permitStep(
  { route, amountIn }: PricedRoute,
  requestId: Hex,
  permit: PermitTerms,
): SignatureStep {
  const { currencyIn, origin, destination } = route
  const input = `${formatAmount(amountIn, currencyIn.decimals)} ${currencyIn.symbol}`
  const isOneChain = origin === destination
  return {
    id: isOneChain ? 'authorize2' : 'authorize1',
    action: `Authorize ${currencyIn.symbol}`,
    description: `Sign for a deposit of ${input}; the solver sends it`,
    kind: 'signature',
    requestId,
    items: [
      {
        status: 'incomplete',
        data: {
          chainId: origin.chainId,
          sign: { signatureKind: 'eip712', ...permitTypedData(permit) },
          post: {
            endpoint: '/execute/permits',
            method: 'POST',
            body: { kind: permit.kind, requestId, api: apiOf(permit.kind, isOneChain) },
          },
        },
        check: statusCheck(requestId),
      },
    ],
  }
}

/** Value of `api` that the published interface names for a kind of permit. */
function apiOf(kind: PermitKind, isOneChain: boolean): SignaturePost['api'] {
  if (!isOneChain) return 'bridge'
  return kind === 'permit2' ? 'user-swap' : 'swap'
}
