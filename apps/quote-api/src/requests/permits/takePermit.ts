import { DomainError, type Hex, type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import type { PermitTrial, SignedDeposits } from '@causeway/families'
import { type PermitKind, type PermitTerms, permitDigest } from '@causeway/families/rules'
import type { ContractSignatures } from '../../access/wallets/contractSignature.ts'
import { hasSignedDigest, withUsualRecoveryByte } from '../../access/wallets/walletOwner.ts'
import type { CodeLookup } from '../../pricing/routes/mayBePaid.ts'
import { parseExecution } from '../orders/execution.ts'
import { toBytes } from '../orders/orderColumns.ts'
import { refuseDeniedExecution, type Screening } from '../screening/screenedRequest.ts'
import type { RequestStatus } from '../status/requestProgress.ts'
import { UnknownRequestError } from '../status/requestStatus.ts'
import type { ChainStops } from '../stops/chainStops.ts'
import type { PermitPayload } from '../work/workItem.ts'
import { addWork, readWorkOf } from '../work/workStore.ts'

/** Handles the user's signature over the permit of a request. A repeated call changes nothing. */
export type TakeSignature = (signed: { readonly requestId: Hex; readonly signature: Hex }) => Promise<void>

/**
 * Simulates the deposit that a signed permit makes, on the chain's newest state. `short`: the owner's balance is below the
 * signed amount; `fails`: the permit makes no deposit.
 */
export type SimulateDeposit = (chainId: number, terms: PermitTerms, signature: Hex) => Promise<PermitTrial>

/** Simulates deposits by the readers of chains. @throws UpstreamUnavailableError also for a chain without a reader */
export function createPermitTrials(
  depositsOf: (chainId: number) => Pick<SignedDeposits, 'tryPermit'> | undefined,
): SimulateDeposit {
  return async (chainId, terms, signature) => {
    const deposits = depositsOf(chainId)
    if (deposits === undefined)
      throw new UpstreamUnavailableError(`Chain ${chainId} cannot be read at the moment.`)
    return deposits.tryPermit(terms, signature)
  }
}

type TakePermitOptions = {
  kind: PermitKind
  database: SqlDatabase
  /** Checks signatures of contract wallets (ERC-1271) on a chain. */
  contractsOf: (chainId: number) => ContractSignatures | undefined
  /** True if an account has code now; `undefined` if not known in time. */
  hasCode: CodeLookup
  trial: SimulateDeposit
  screening: Screening | undefined
  stops: Pick<ChainStops, 'refuseRequest'>
  now: () => number
}

/** Seconds that the solver needs to relay a permit before its deadline. */
const relaySecondsMin = 30

/**
 * Checks the signature of a permit, tries its deposit, and adds the work item that asks the solver to send it. A permit is
 * taken once, even if another valid signature of it comes later.
 * @throws UnknownRequestError, QuoteError SANCTIONED_WALLET_ADDRESS and CHAIN_STOPPED, PermitFailedError,
 * PermitBalanceTooLowError, and what reading the chain throws
 * @source rule Q-193
 */
export function createTakePermit(options: TakePermitOptions): TakeSignature {
  const { database, contractsOf, trial, screening, stops, now } = options
  return async ({ requestId, signature: givenSignature }) => {
    // Tokens accept only 27 and 28 as recovery byte.
    const signature = withUsualRecoveryByte(givenSignature)
    const { terms, originChainId: chainId } = await requirePermit(options, requestId)
    await refuseDeniedExecution(database, screening, requestId)
    await stops.refuseRequest(requestId)
    const signed = { digest: permitDigest(terms), wallet: terms.owner, signature }
    if (!(await hasSignedDigest(signed, contractsOf(chainId)))) {
      const message = 'The signature is not of the user, or not over what was quoted.'
      throw await refusalOf(options, signed, chainId, message)
    }
    if ((await readWorkOf(database, { kind: 'permit', requestId })) !== undefined) return
    if (Math.floor(now() / 1_000) + relaySecondsMin > terms.deadlineSeconds) {
      throw new PermitFailedError('The permit has expired; quote again.')
    }
    const outcome = await trial(chainId, terms, signature)
    if (outcome === 'short') throw new PermitBalanceTooLowError(terms)
    if (outcome === 'fails') {
      const message = 'The permit makes no deposit now: it was used, cancelled or is not allowed.'
      throw await refusalOf(options, signed, chainId, message)
    }
    await askForRelay(database, requestId, payloadOf(terms, { chainId, signature }))
  }
}

/** Adds the work item, unless the request got its deposit meanwhile. @throws PermitFailedError then */
async function askForRelay(database: SqlDatabase, requestId: Hex, payload: PermitPayload): Promise<void> {
  await database.transaction(async (tx) => {
    const locked = await readPermit(tx, requestId, 'for update')
    if (locked === undefined || locked === 'none') throw new UnknownRequestError()
    const { status } = locked
    const isNew = await addWork(tx, { kind: 'permit', requestId, chainId: payload.chainId, payload })
    // An item that was there before is no conflict, because a repeated call changes nothing.
    if (isNew && status !== 'waiting')
      throw new PermitFailedError('The request has its deposit already.', { data: { status } })
  })
}

/**
 * Explains a refused signature. A token asks the owner's code if there is any, even if the owner's key signed, and it accepts
 * no ERC-6492 wrapper; such an owner needs a quote without permit.
 * @param defaultMessage for any other owner
 * @source Q-57
 */
async function refusalOf(
  { contractsOf, hasCode }: TakePermitOptions,
  signed: { readonly digest: Uint8Array; readonly wallet: Hex; readonly signature: Hex },
  chainId: number,
  defaultMessage: string,
): Promise<PermitFailedError> {
  const { wallet: account, signature } = signed
  if (signature.endsWith(erc6492Suffix))
    return unpermitted('The signature is wrapped by ERC-6492, which no token takes')
  const isRefusedByCode =
    (await hasCode({ chainId, account })) === true && (await contractsOf(chainId)?.isValid(signed)) === false
  if (isRefusedByCode) return unpermitted(`The code of user on chain ${chainId} refuses the signature`)
  return new PermitFailedError(defaultMessage)
}

async function requirePermit({ kind, database }: TakePermitOptions, requestId: Hex): Promise<StoredPermit> {
  const stored = await readPermit(database, requestId)
  if (stored === undefined) throw new UnknownRequestError()
  if (stored === 'none' || stored.terms.kind !== kind) {
    throw new PermitFailedError('The request asks for no signature of this kind.', { data: { kind } })
  }
  return stored
}

function payloadOf(
  terms: PermitTerms,
  { chainId, signature }: { readonly chainId: number; readonly signature: Hex },
): PermitPayload {
  const { token, owner, amount, deadlineSeconds: deadline, orderId, kind: permitKind } = terms
  const commonFields = {
    orderId,
    chainId,
    deadline,
    permitKind,
    token,
    owner,
    amount: amount.toString(),
    signature,
  }
  if (terms.kind !== 'permit2') return { ...commonFields, permitRouter: terms.router.contract }
  const calls = terms.calls.map(({ to, data, value }) => ({ to, data, value: value.toString() }))
  return { ...commonFields, permitRouter: terms.router, relayer: terms.relayer, calls }
}

/** A signature that makes no deposit; the message says what to do. @source rule Q-57 */
class PermitFailedError extends DomainError {
  readonly code = 'PERMIT_FAILED'
  readonly kind = 'invalid_request'
}

/** Suffix of a signature that is wrapped for an account without code. @source ERC-6492 */
const erc6492Suffix = '6492'.repeat(16)

/** Refusal that advises ordinary transactions, for which no token checks a signature. */
const unpermitted = (reason: string) =>
  new PermitFailedError(`${reason}: quote without usePermit, then user approves and deposits.`, {
    data: { usePermitInstead: false },
  })

/** The user's balance has become too small since the quote. @source rule Q-193 */
class PermitBalanceTooLowError extends DomainError {
  readonly code = 'GASLESS_PERMIT_BALANCE_TOO_LOW'
  readonly kind = 'invalid_request'

  constructor({ token, owner, amount }: PermitTerms) {
    super('The user holds less of the token than was signed for.', {
      data: { token, owner, amount: amount.toString() },
    })
  }
}

type StoredPermit = {
  readonly terms: PermitTerms
  readonly originChainId: number
  readonly status: RequestStatus
}

/** Permit that a request asked its user to sign; `undefined` for an unknown request, `none` if it asked for none. */
async function readPermit(
  database: Pick<SqlDatabase, 'query'>,
  requestId: Hex,
  lock: '' | 'for update' = '',
): Promise<StoredPermit | 'none' | undefined> {
  const [row] = await database.query<{
    readonly execution: unknown
    readonly origin_chain_id: bigint
    readonly status: RequestStatus
  }>(`select execution, origin_chain_id, status from orders where request_id = $1 ${lock}`, [
    toBytes(requestId),
  ])
  if (row === undefined) return undefined
  if (row.execution === null) return 'none'
  const execution = parseExecution(row.execution)
  if (execution.by !== 'permit') return 'none'
  return { terms: execution.terms, originChainId: Number(row.origin_chain_id), status: row.status }
}
