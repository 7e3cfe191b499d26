import { type Hex, hexToBytes, orderSchema, type SqlDatabase, viemLibrary } from '@causeway/core'
import type { SignedDeposits } from '@causeway/families'
import type { DearerState } from '@causeway/families/rules'
import { recoverSigner } from '@causeway/signer'
import { QuoteError } from '../../pricing/errors.ts'
import { executionUnits, solverGasLimit } from '../../pricing/fees/gas.ts'
import { findCurrency, type QuotableChain, type QuoteRegistry } from '../../pricing/registry.ts'
import { deniedError } from '../../pricing/routes/deniedParties.ts'
import { quotedAmountsSchema } from '../history/quotedAmounts.ts'
import { toBytes } from '../orders/orderColumns.ts'
import { refuseDeniedExecution, type Screening } from '../screening/screenedRequest.ts'
import type { RequestStatus } from '../status/requestProgress.ts'
import { UnknownRequestError } from '../status/requestStatus.ts'
import type { ChainStops } from '../stops/chainStops.ts'
import { type ExecutePayload, executePayloadSchema, type WorkItem } from '../work/workItem.ts'
import { addWork, readWorkOf } from '../work/workStore.ts'
import {
  type Calls,
  type ExecutedRequest,
  ExecutionRefusedError,
  judgeRequest,
  judgeSimulation,
} from './judgeExecution.ts'

/** Signed permission of an account to run the code of `address`. @source EIP-7702 */
export type Authorization = ExecutePayload['authorizationList'][number]

export type ExecutionRequest = Calls & {
  readonly requestId: Hex
  readonly authorizationList: readonly Authorization[]
}

/** Handles `POST /execute`: takes a smart account's calls for submission. A repeated request changes nothing. */
export type TakeCalls = (executionRequest: ExecutionRequest, keyId: string) => Promise<void>

type CallTrials = Pick<SignedDeposits, 'tryCalls' | 'countTransactions'>

type TakeCallsOptions = {
  database: SqlDatabase
  registry: QuoteRegistry
  /** True for a chain that has endpoints. */
  isRead: (chainId: number) => boolean
  depositsOf: (chainId: number) => CallTrials | undefined
  screening: Screening | undefined
  stops: Pick<ChainStops, 'refuseRequest'>
  /** The solver's account; undefined: nobody submits anything. */
  fillWallet: string | undefined
  /** Gas that new state takes on a chain above what is assumed; undefined where it takes no more. */
  dearerOn: (chainId: number) => DearerState | undefined
  now: () => number
}

/**
 * Calls are taken if a trial shows that they make the deposit of the quoted request. Then a work item asks
 * the solver to submit them. One set of calls is taken per request. Deny list and stops are checked even for
 * a repeated request; the chain is asked last, after all rules about stored facts.
 * @throws UnknownRequestError, ExecutionRefusedError, QuoteError SANCTIONED_WALLET_ADDRESS, CHAIN_STOPPED, UNSUPPORTED_CHAIN
 * and UNSUPPORTED_EXECUTION_TYPE, and what reading the chain throws
 * @source rule Q-198
 */
export function createTakeCalls(options: TakeCallsOptions): TakeCalls {
  const { database, registry, isRead, depositsOf, screening, stops, fillWallet, dearerOn, now } = options
  return async (executionRequest, keyId) => {
    const { requestId, chainId } = executionRequest
    const stored = await readRequest(database, requestId)
    if (stored === undefined) throw new UnknownRequestError()
    const chain = registry.chainById.get(chainId)
    if (chain === undefined || !isRead(chainId)) throw unsupportedChain(chainId)
    if (fillWallet === undefined) throw nobodySubmits(chainId)
    if (screening?.isDenied(chainId, executionRequest.to, keyId) === true) throw deniedError('data.to')
    await refuseDeniedExecution(database, screening, requestId)
    await stops.refuseRequest(requestId)
    // Calls and permits are one kind of work: either makes the deposit that a request has once.
    const earlierWork = await readWorkOf(database, { kind: 'permit', requestId })
    if (earlierWork !== undefined) return requireSame(earlierWork, executionRequest)

    const refusal = judgeRequest(stored, executionRequest, {
      keyId,
      nowSeconds: Math.floor(now() / 1_000),
      ownContracts: ownContracts(chain, fillWallet),
      failuresLastHour: await failuresLastHour(database, keyId),
    })
    if (refusal !== undefined) throw new ExecutionRefusedError(refusal)
    const deposits = depositsOf(chainId)
    const { multicall3 } = chain.config
    if (deposits === undefined || multicall3 === undefined) throw unsupportedChain(chainId)
    const trialChain = { chain, deposits, fillWallet, dearer: dearerOn(chainId) }
    const order = await requireDeposit(stored, executionRequest, trialChain)
    const { to, data, authorizationList } = executionRequest
    await askForSubmission(database, executionRequest, {
      keyId,
      permitKind: 'calls',
      orderId: order.id,
      chainId,
      deadline: stored.expiresAtSeconds,
      multicall3,
      to,
      data,
      authorizationList: [...authorizationList],
      gasUnits: order.solverGasUnits.toString(),
    })
  }
}

type TrialChain = {
  readonly chain: QuotableChain
  readonly deposits: CallTrials
  readonly fillWallet: string
  readonly dearer: DearerState | undefined
}

/** Tries the calls on the newest state. @throws ExecutionRefusedError unless they make the deposit with the charged gas */
async function requireDeposit(
  stored: StoredRequest,
  executionRequest: ExecutionRequest,
  { chain, deposits, fillWallet, dearer }: TrialChain,
): Promise<RequiredDeposit> {
  const { to, data } = executionRequest
  const { depository } = chain
  const delegations = await delegationsOf(executionRequest, deposits, fillWallet)
  const from = chain.quoting.hexAddress(fillWallet)
  const simulated = await deposits.tryCalls({ from, depository, to, data, delegations })
  const order = requiredDeposit(stored, chain, dearer)
  const refusal = judgeSimulation(simulated, order)
  if (refusal === undefined) return order
  throw new ExecutionRefusedError(refusal, {
    ...(simulated.succeeds && { gas: simulated.gas.toString() }),
    gasMax: order.gasMax.toString(),
  })
}

/**
 * Stores the work item; where another process was faster, its calls must be the same.
 * @param payload `keyId`: of the caller, which solvers are not told. @throws ExecutionRefusedError
 */
async function askForSubmission(
  database: SqlDatabase,
  executionRequest: ExecutionRequest,
  payload: ExecutePayload & { readonly keyId: string },
): Promise<void> {
  const { requestId, chainId } = executionRequest
  const isNew = await database.transaction((tx) =>
    addWork(tx, { kind: 'permit', requestId, chainId, payload }),
  )
  if (isNew) return
  const earlierWork = await readWorkOf(database, { kind: 'permit', requestId })
  if (earlierWork !== undefined) requireSame(earlierWork, executionRequest)
}

/** Compares calls with those taken before; a new signature makes other data. @throws ExecutionRefusedError for other calls */
function requireSame({ payload }: WorkItem, { to, data }: ExecutionRequest): void {
  const earlierPayload = executePayloadSchema.safeParse(payload)
  if (earlierPayload.success && earlierPayload.data.to === to && earlierPayload.data.data === data) return
  throw new ExecutionRefusedError('taken')
}

/**
 * Recovers the accounts that signed the authorizations of EIP-7702. Each authorization must be for this
 * chain, or for all chains by chain id 0, and have the account's present nonce. The solver's own account must
 * not be among them.
 * @throws ExecutionRefusedError
 */
async function delegationsOf(
  { authorizationList, chainId }: ExecutionRequest,
  deposits: CallTrials,
  fillWallet: string,
) {
  const { concatHex, keccak256, numberToHex, toRlp } = viemLibrary()
  // RLP writes the integer 0 as no byte at all.
  const rlpInteger = (value: number): Hex => (value === 0 ? '0x' : numberToHex(value))
  return Promise.all(
    authorizationList.map(async ({ address, nonce, yParity, r, s, chainId: signedChainId }) => {
      // CAST: the body's schema lets only 20 bytes of hex through.
      const implementation = address as Hex
      const tuple = toRlp([rlpInteger(signedChainId), implementation, rlpInteger(nonce)])
      // EIP-7702: 0x05 is the magic byte of authorizations; 0x1b and 0x1c are the recovery ids 27 and 28.
      const digest = hexToBytes(keccak256(concatHex(['0x05', tuple])))
      const account = recoverSigner(digest, concatHex([r, s, yParity === 0 ? '0x1b' : '0x1c']))
      const isForThisChain = signedChainId === 0 || signedChainId === chainId
      if (account === undefined || account === fillWallet.toLowerCase() || !isForThisChain)
        throw new ExecutionRefusedError('authorization')
      if ((await deposits.countTransactions(account)) !== nonce)
        throw new ExecutionRefusedError('authorization', { nonce })
      return { account, implementation }
    }),
  )
}

/** Contracts that calls may not go to. The multicall that runs calls has no rights on them; this is a second guard. */
function ownContracts(
  { config, depository, currencies }: QuotableChain,
  fillWallet: string,
): ReadonlySet<string> {
  const { fillContract, depositRouter, depositAddresses, permitRouter, permit2Router, multicall3 } = config
  const addresses = [
    fillWallet,
    depository,
    fillContract,
    depositRouter,
    depositAddresses?.contract,
    permitRouter?.contract,
    permit2Router,
    multicall3,
    config.wrappedNative,
    config.uniswapV3?.swapRouter,
    ...[...currencies.values()].map(({ address }) => address),
  ]
  return new Set(addresses.flatMap((address) => (address === undefined ? [] : [address.toLowerCase()])))
}

type StoredRequest = ExecutedRequest & {
  readonly orderData: unknown
  readonly originCurrency: string
}

/** Deposit that the calls must make. */
type RequiredDeposit = {
  /** Order id. */
  readonly id: Hex
  readonly currency: string
  readonly amount: bigint
  /** Most gas that the calls may use. */
  readonly gasMax: bigint
  /** Gas that the solver is told to send along. */
  readonly solverGasUnits: bigint
}

function requiredDeposit(
  { orderId, orderData, originCurrency, originGasOverhead }: StoredRequest,
  chain: QuotableChain,
  dearer: DearerState | undefined,
): RequiredDeposit {
  const payment = orderSchema.parse(orderData).inputs[0]?.payment
  const currencyIn = findCurrency(chain, originCurrency)
  if (payment === undefined || orderId === undefined) throw new Error('an order has one input')
  if (currencyIn === undefined) throw unsupportedChain(chain.chainId)
  const gasMax = executionUnits(currencyIn, { originGasOverhead }, dearer)
  return {
    id: orderId,
    currency: chain.codec.canonicalAddress(payment.currency),
    amount: BigInt(payment.amount),
    gasMax,
    solverGasUnits: solverGasLimit(gasMax, dearer),
  }
}

async function readRequest(
  database: Pick<SqlDatabase, 'query'>,
  requestId: Hex,
): Promise<StoredRequest | undefined> {
  const [row] = await database.query<{
    readonly order_id: Buffer | null
    readonly order_data: unknown
    readonly quoted: unknown
    readonly execution: unknown
    readonly has_address: boolean
    readonly origin_chain_id: bigint
    readonly status: RequestStatus
    readonly api_key_id: string | null
    readonly expires_at: bigint
    readonly debit: bigint | null
  }>(
    `select o.order_id, o.order_data, o.quoted, o.execution, o.deposit_address is not null as has_address,
       o.origin_chain_id, o.status, o.api_key_id, extract(epoch from o.expires_at)::bigint as expires_at,
       (select p.debit_micro_usd from request_sponsorship p where p.request_id = o.request_id) as debit
     from orders o where o.request_id = $1`,
    [toBytes(requestId)],
  )
  if (row === undefined) return undefined
  const { originGasOverhead, originCurrency } = quotedAmountsSchema.parse(row.quoted)
  return {
    orderId: row.order_id === null ? undefined : `0x${row.order_id.toString('hex')}`,
    orderData: row.order_data,
    originCurrency,
    originGasOverhead,
    isRelayedOtherwise: row.execution !== null || row.has_address,
    originChainId: Number(row.origin_chain_id),
    status: row.status,
    apiKeyId: row.api_key_id ?? undefined,
    expiresAtSeconds: Number(row.expires_at),
    debitMicroUsd: row.debit ?? 0n,
  }
}

/** Number of a key's failed executions, also of requests quoted without a key, by the clock of the database. */
async function failuresLastHour(database: Pick<SqlDatabase, 'query'>, keyId: string): Promise<number> {
  const [row] = await database.query<{ readonly count: bigint }>(
    `select count(*) as count from work_item w join orders o using (request_id)
     where w.kind = 'permit' and w.payload ->> 'permitKind' = 'calls' and w.state in ('failed', 'cancelled')
       and w.updated_at > clock_timestamp() - interval '1 hour'
       and coalesce(o.api_key_id, w.payload ->> 'keyId') = $1`,
    [keyId],
  )
  return Number(row?.count ?? 0n)
}

function unsupportedChain(chainId: number): QuoteError {
  return new QuoteError('UNSUPPORTED_CHAIN', `data.chainId ${chainId} is not supported; see GET /chains.`, {
    data: { field: 'data.chainId', chainId },
  })
}

function nobodySubmits(chainId: number): QuoteError {
  return new QuoteError('UNSUPPORTED_EXECUTION_TYPE', `Nobody submits calls on chain ${chainId}.`, {
    data: { field: 'data', chainId },
  })
}
