import { statementTimeoutMs, type VouchingOracles, vouchForMapping, vouchTimeoutMs } from '@causeway/chains'
import {
  DomainError,
  type Hex,
  type NonceMapping,
  type SqlDatabase,
  UpstreamUnavailableError,
} from '@causeway/core'
import { isContractChain } from '@causeway/core/config'
import type { MappingWriter, SentTransfer } from '@causeway/families'
import type { KeylessBudget } from '../../access/keylessBudget.ts'
import { QuoteError } from '../../pricing/errors.ts'
import type { PricingDependencies } from '../../pricing/pricingDependencies.ts'
import type { QuotableChain, QuoteRegistry } from '../../pricing/registry.ts'
import { toBytes } from '../orders/orderColumns.ts'
import { refuseDeniedExecution, type Screening } from '../screening/screenedRequest.ts'
import { UnknownRequestError } from '../status/requestStatus.ts'
import type { ChainStops } from '../stops/chainStops.ts'

/**
 * Statement of a wallet that its transfer with this nonce is the deposit of this order, for chains whose transfers cannot
 * name an order. Addresses and ids in lower case.
 */
export type SignedMapping = {
  readonly walletChainId: number
  readonly wallet: Hex
  /** Owner of the deposit, as the hub knows it; here always the wallet itself. */
  readonly depositor: Hex
  readonly nonce: number
  /** Order id. */
  readonly id: Hex
  /** The chain that the wallet was connected to when it signed, which is in the signature's domain. */
  readonly signatureChainId: number
  readonly signature: Hex
  /** Caller without an API key, under which its budget is counted; undefined for a caller with a key. */
  readonly keylessCaller: string | undefined
}

export type MapNonce = (signed: SignedMapping) => Promise<void>

/**
 * Handles a signed mapping: checks it against the quote, has the oracles vouch for it, and writes it to the
 * hub. Only then does the transfer count as the order's deposit. A repeated call changes nothing on the hub.
 * The budget is taken last, so that nobody can use up a wallet's budget without its signature.
 * @param options.hubBudget limits the hub's entries of callers without a key, because the operator pays for each
 * @throws UnknownRequestError, QuoteError, AuthorizationError, TooLittleToTransferError, KeylessBudgetSpentError,
 * MappingTakenError, UpstreamUnavailableError
 * @source Q-44
 */
export function createMapNonce(options: {
  readonly registry: QuoteRegistry
  readonly database: SqlDatabase
  readonly screening: Screening | undefined
  readonly stops: Pick<ChainStops, 'refuseRequest'>
  readonly vouching: VouchingOracles
  readonly writer: MappingWriter
  readonly hubBudget: KeylessBudget
  readonly ports: Funds
}): MapNonce {
  const { registry, database, screening, stops, vouching, writer, hubBudget, ports } = options
  return async (signed) => {
    const chain = mappedChain(registry, signed.walletChainId)
    const order = await readOrder(database, signed.id)
    if (order === undefined || order.originChainId !== signed.walletChainId) throw new UnknownRequestError()
    // The quote's transfer has a nonce that is computed from its order.
    const nonce = chain.quoting.transferNonce?.({ orderId: signed.id, ...order })
    const { wallet, depositor } = signed
    if (wallet !== order.user || depositor !== order.user || signed.nonce !== nonce)
      throw new AuthorizationError('The signature is not about the transfer that was quoted.')
    await refuseDeniedExecution(database, screening, order.requestId)
    await stops.refuseRequest(order.requestId)
    const signatureChain = signingChain(registry, signed.signatureChainId)
    await requireFunds(ports, chain, { ...order, nonce })
    const { id } = signed
    const mapping: NonceMapping = { walletChainId: chain.key, wallet, depositor, id, nonce: BigInt(nonce) }
    const { entry, proof } = await requireVouched(vouching, {
      mapping,
      vmType: chain.vmType,
      signature: signed.signature,
      signatureChainId: signatureChain.key,
    })
    // Caller and wallet each have a budget.
    if (signed.keylessCaller !== undefined) await hubBudget.take([signed.keylessCaller, `wallet ${wallet}`])
    await writer.write(entry, proof, AbortSignal.timeout(statementTimeoutMs))
  }
}

/** The signature is not of the user, or not over what was quoted. */
class AuthorizationError extends DomainError {
  readonly code = 'INVALID_SIGNATURE'
  readonly kind = 'invalid_request'

  constructor(message: string) {
    super(message, { data: { field: 'signature' } })
  }
}

/** @throws AuthorizationError where the oracles deny the signature; UpstreamUnavailableError where too few answer */
async function requireVouched(vouching: VouchingOracles, statement: Parameters<typeof vouchForMapping>[1]) {
  const outcome = await vouchForMapping(vouching, statement, AbortSignal.timeout(vouchTimeoutMs))
  if (outcome === 'denied')
    throw new AuthorizationError('The signature is not of the user, or not over what was quoted.')
  if (outcome === 'silent')
    throw new UpstreamUnavailableError('Too few oracles vouch for the signature now: send it again.')
  return outcome
}

/** True if the account has already sent the transfer with this nonce. */
export type HasSent = (transfer: SentTransfer & { readonly chainId: number }) => Promise<boolean>

type Funds = Pick<PricingDependencies, 'userFacts'> & { readonly hasSent: HasSent }

/**
 * Refuses a wallet that holds too little for the transfer, unless it has already sent it. An unknown balance of a token
 * refuses nobody, because some chains cannot answer for tokens; that of the native coin is always available.
 * @throws TooLittleToTransferError; UpstreamUnavailableError while the native balance is unknown
 */
async function requireFunds(
  { userFacts, hasSent }: Funds,
  { chainId, native }: QuotableChain,
  { user, currency, amount, nonce, createdAtMs }: OrderOfMapping & { readonly nonce: number },
): Promise<void> {
  // A plain transfer needs no allowance, and its cost depends on no other balance, so neither is asked for.
  const { balance } = await userFacts({ chainId, user, currency, spender: undefined, touched: [] })
  if (balance !== undefined && balance < amount) {
    if (await hasSent({ chainId, account: user, nonce: BigInt(nonce), sinceMs: createdAtMs })) return
    throw new TooLittleToTransferError('The wallet holds less than the amount of the quoted transfer.', {
      data: { field: 'wallet', availableAmount: balance.toString(), neededAmount: amount.toString() },
    })
  }
  if (balance === undefined && currency === native.address)
    throw new UpstreamUnavailableError('The chain does not say now what the wallet holds: send it again.')
}

/** The wallet cannot pay for the transfer, so the hub gets no entry for it. */
class TooLittleToTransferError extends DomainError {
  readonly code = 'INSUFFICIENT_FUNDS'
  readonly kind = 'invalid_request'
}

/** The wallet's chain, if its transfers need a mapping. @throws QuoteError UNSUPPORTED_CHAIN */
function mappedChain({ chainById }: QuoteRegistry, chainId: number): QuotableChain {
  const chain = chainById.get(chainId)
  if (chain?.quoting.transferNonce !== undefined) return chain
  throw new QuoteError('UNSUPPORTED_CHAIN', `Transfers of chain ${chainId} name their orders themselves.`, {
    data: { field: 'walletChainId', chainId },
  })
}

/**
 * The chain of the signature's domain: any quoted chain with contracts, since oracles know these.
 * @throws QuoteError UNSUPPORTED_CHAIN
 */
function signingChain({ chains }: QuoteRegistry, chainId: number): QuotableChain {
  const signingChains = chains.filter(({ config }) => isContractChain(config))
  const chain = signingChains.find((candidate) => candidate.chainId === chainId)
  if (chain !== undefined) return chain
  const chainIds = signingChains.map((candidate) => candidate.chainId).join(', ')
  throw new QuoteError('UNSUPPORTED_CHAIN', `Sign on one of the chains ${chainIds}, not on ${chainId}.`, {
    data: { field: 'signatureChainId', chainId },
  })
}

/** The quoted order with this order id; `amount` is of the origin currency, in smallest units. */
type OrderOfMapping = {
  readonly requestId: Hex
  readonly user: string
  readonly originChainId: number
  readonly currency: string
  readonly amount: bigint
  readonly createdAtMs: number
  readonly deadlineSeconds: number
}

async function readOrder(
  database: Pick<SqlDatabase, 'query'>,
  orderId: Hex,
): Promise<OrderOfMapping | undefined> {
  const [row] = await database.query<{
    readonly request_id: Buffer
    readonly user_address: string
    readonly origin_chain_id: bigint
    readonly currency: string
    readonly amount: string
    readonly created_at: Date
    readonly deadline: Date
  }>(
    `select request_id, user_address, origin_chain_id, created_at, deadline, quoted ->> 'originCurrency' as currency,
       quoted ->> 'amountIn' as amount from orders where order_id = $1`,
    [toBytes(orderId)],
  )
  return (
    row && {
      requestId: `0x${row.request_id.toString('hex')}`,
      user: row.user_address.toLowerCase(),
      originChainId: Number(row.origin_chain_id),
      currency: row.currency,
      amount: BigInt(row.amount),
      createdAtMs: row.created_at.getTime(),
      deadlineSeconds: Math.floor(row.deadline.getTime() / 1_000),
    }
  )
}
