import { sayTimeoutMs, type Vouching, vouchForMapping, vouchTimeoutMs } from '@causeway/chains'
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
import type { PricingDependencies } from '../../pricing/priceRequest.ts'
import type { QuotableChain, QuoteRegistry } from '../../pricing/registry.ts'
import { toBytes } from '../orders/orderColumns.ts'
import { refuseDeniedExecution, type Screening } from '../screening/screenedRequest.ts'
import { UnknownRequestError } from '../status/requestStatus.ts'
import type { ChainStops } from '../stops/chainStops.ts'

/** Mapping that a wallet signed for its transfer. Addresses and ids in lower case. */
export type SignedMapping = {
  readonly walletChainId: number
  readonly wallet: Hex
  readonly depositor: Hex
  readonly nonce: number
  /** Order id. */
  readonly id: Hex
  /** The chain that the wallet was on. */
  readonly signatureChainId: number
  readonly signature: Hex
  /** Undefined for a caller with a key. */
  readonly keylessCaller: string | undefined
}

export type MapNonce = (signed: SignedMapping) => Promise<void>

/** The signature is not of the user, or not over what was quoted. */
class AuthorizationError extends DomainError {
  readonly code = 'INVALID_SIGNATURE'
  readonly kind = 'invalid_request'

  constructor(message: string) {
    super(message, { data: { field: 'signature' } })
  }
}

/** True if the account made the transfer with this nonce. */
export type HasSent = (transfer: SentTransfer & { readonly chainId: number }) => Promise<boolean>

/** Nothing is written on the hub for a transfer that cannot be made. */
class TooLittleToTransferError extends DomainError {
  readonly code = 'INSUFFICIENT_FUNDS'
  readonly kind = 'invalid_request'
}

/**
 * Takes what a wallet signed about the nonce of its transfer, has the oracles vouch for it, and brings it to the hub: only
 * then is the transfer the order's deposit. What is not what was quoted is refused; repeating it changes nothing.
 * @param options.hubBudget of entries on the hub, each of which the operator pays for
 * @throws UnknownRequestError, QuoteError, AuthorizationError, TooLittleToTransferError, KeylessBudgetSpentError,
 * MappingTakenError, UpstreamUnavailableError
 * @source Q-44
 */
export function createMapNonce(options: {
  readonly registry: QuoteRegistry
  readonly database: SqlDatabase
  readonly screening: Screening | undefined
  readonly stops: Pick<ChainStops, 'refuseRequest'>
  readonly vouching: Vouching
  readonly writer: MappingWriter
  readonly hubBudget: KeylessBudget
  readonly ports: Funds
}): MapNonce {
  const { registry, database, screening, stops, vouching, writer, hubBudget, ports } = options
  return async (signed) => {
    const chain = mappedChain(registry, signed.walletChainId)
    const order = await readOrder(database, signed.id)
    if (order === undefined || order.originChainId !== signed.walletChainId) throw new UnknownRequestError()
    const nonce = chain.quoting.transferNonce?.({ orderId: signed.id, ...order })
    const { wallet, depositor } = signed
    if (wallet !== order.user || depositor !== order.user || signed.nonce !== nonce)
      throw new AuthorizationError('The signature is not about the transfer that was quoted.')
    await refuseDeniedExecution(database, screening, order.requestId)
    await stops.refuseRequest(order.requestId)
    const signatureChain = signingChain(registry, signed.signatureChainId)
    await requireFunds(ports, chain, { ...order, nonce })
    const mapping: NonceMapping = {
      ...{ walletChainId: chain.key, wallet, depositor, id: signed.id, nonce: BigInt(nonce) },
    }
    const signedStatement = {
      ...{ mapping, vmType: chain.vmType, signature: signed.signature },
      signatureChainId: signatureChain.key,
    }
    const outcome = await vouchForMapping(vouching, signedStatement, AbortSignal.timeout(vouchTimeoutMs))
    if (outcome === 'denied')
      throw new AuthorizationError('The signature is not of the user, or not over what was quoted.')
    if (outcome === 'silent')
      throw new UpstreamUnavailableError('Too few oracles vouch for the signature now: send it again.')
    if (signed.keylessCaller !== undefined) await hubBudget.take([signed.keylessCaller, `wallet ${wallet}`])
    await writer.write(outcome.entry, outcome.proof, AbortSignal.timeout(sayTimeoutMs))
  }
}

type Funds = Pick<PricingDependencies, 'userFacts'> & { readonly hasSent: HasSent }

/**
 * A wallet that made the transfer before it says what it is for has spent the money. A chain that does not tell what the wallet
 * holds of a currency keeps nobody from depositing it.
 * @throws TooLittleToTransferError; UpstreamUnavailableError where it should tell, and does not now
 */
async function requireFunds(
  { userFacts, hasSent }: Funds,
  { chainId, native }: QuotableChain,
  { user, currency, amount, nonce, createdAtMs }: OrderOfMapping & { readonly nonce: number },
): Promise<void> {
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

/** @throws QuoteError UNSUPPORTED_CHAIN */
function mappedChain({ chainById }: QuoteRegistry, chainId: number): QuotableChain {
  const chain = chainById.get(chainId)
  if (chain?.quoting.transferNonce !== undefined) return chain
  throw new QuoteError('UNSUPPORTED_CHAIN', `Transfers of chain ${chainId} name their orders themselves.`, {
    data: { field: 'walletChainId', chainId },
  })
}

/** Oracles know the chains that are quoted. @throws QuoteError UNSUPPORTED_CHAIN */
function signingChain({ chains }: QuoteRegistry, chainId: number): QuotableChain {
  const able = chains.filter(({ config }) => isContractChain(config))
  const chain = able.find((one) => one.chainId === chainId)
  if (chain !== undefined) return chain
  const names = able.map((one) => one.chainId).join(', ')
  throw new QuoteError('UNSUPPORTED_CHAIN', `Sign on one of the chains ${names}, not on ${chainId}.`, {
    data: { field: 'signatureChainId', chainId },
  })
}

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
