import type { Evidence } from '@causeway/core'
import { type EthereumReaderLimits, runAsOne } from '../ethereum-vm/finalTransactions.ts'
import { MalformedAnswerError } from '../evm/malformedAnswer.ts'
import { OneFlight } from '../quorum/oneFlight.ts'
import type { QuorumClient } from '../quorum/quorumClient.ts'
import type { Sighting } from '../quorum/sighting.ts'
import { WeightedCache } from '../quorum/weightedCache.ts'
import {
  type HyperliquidTransaction,
  type LedgerSend,
  parseLedgerSend,
  parseSpotTokens,
  parseTransaction,
} from './answers.ts'
import { HyperliquidCurrencyError } from './hyperliquidErrors.ts'
import type { HyperliquidView } from './hyperliquidView.ts'
import { ledgerRequest, spotMetaRequest, transactionRequest } from './requests.ts'

export type HyperliquidReaderLimits = Omit<EthereumReaderLimits, 'logsMax'>

/** Blocks of the exchange are final when they are there: nothing is waited for. @source oracle-protocol.md 5.4 */
export const finalityRule = 'shown in a block'

export type KnownTransaction = {
  readonly transaction: HyperliquidTransaction
  readonly evidence: Evidence
}

/** Where a transfer is looked for in the ledger of an account. */
export type LedgerPlace = { readonly user: string; readonly timestampMs: number }

/** Tokens of the exchange are some hundreds. */
const tokensKeptMax = 2_000

/**
 * Transactions of the exchange and decimals of its tokens, each read once while it is remembered. Nothing
 * that is missing or failed is remembered. @source design.md 7.5
 */
export function createFinalTransactions(options: {
  readonly quorum: QuorumClient<HyperliquidView>
  readonly limits: HyperliquidReaderLimits
}) {
  const { quorum, limits } = options
  const { chainId } = quorum
  const known = new WeightedCache<KnownTransaction>({
    entriesMax: limits.finalEntriesMax,
    weightMax: limits.finalWeightMax,
  })
  const decimals = new WeightedCache<number>({ entriesMax: tokensKeptMax, weightMax: tokensKeptMax })
  const flights = new OneFlight<KnownTransaction>()
  const decimalFlights = new OneFlight<number>()

  async function readAgreed(
    transactionId: string,
    place: LedgerPlace | undefined,
    signal: AbortSignal,
  ): Promise<KnownTransaction> {
    const { facts: transaction, agreeingEndpoints } = await quorum.read({
      transactionId,
      signal,
      first: (view, own) =>
        place === undefined ? explore(view, transactionId, own) : lookUp(view, transactionId, place, own),
      pin: () => undefined,
      second: async (_view, seen) => judge(seen),
    })
    const { blockNumber } = transaction
    const block = blockNumber === undefined ? {} : { blockNumber }
    return { transaction, evidence: { chainId, ...block, finalityRule, agreeingEndpoints } }
  }

  async function readDecimals(tokenId: string, signal: AbortSignal): Promise<number> {
    const { facts } = await quorum.read({
      signal,
      first: async (view, own) => parseSpotTokens(await view.ask(spotMetaRequest, own)),
      pin: () => undefined,
      second: async (_view, tokens) => {
        const listed = tokens.filter((token) => token.tokenId === tokenId)
        if (listed.length > 1) throw new MalformedAnswerError('spotMeta')
        return { kind: 'final' as const, facts: { decimals: listed[0]?.decimals ?? null } }
      },
    })
    if (facts.decimals === null) throw new HyperliquidCurrencyError('CURRENCY_DECIMALS_UNKNOWN')
    return facts.decimals
  }

  return {
    /**
     * @param transactionId canonical
     * @param place read from the ledger there and not from the explorer
     * @throws what `QuorumClient.read` throws
     */
    async read(transactionId: string, place: LedgerPlace | undefined, signal: AbortSignal) {
      const key = JSON.stringify([transactionId, place?.user, place?.timestampMs])
      const remembered = known.get(key)
      if (remembered !== undefined) return remembered
      return runAsOne(flights, { key, chainId, signal }, async (shared) => {
        const read = await readAgreed(transactionId, place, shared)
        known.set(key, read, JSON.stringify(read.transaction.send ?? '', textOfBigints).length)
        return read
      })
    },
    /** @throws HyperliquidCurrencyError, and what `QuorumClient.read` throws */
    async decimalsOf(tokenId: string, signal: AbortSignal): Promise<number> {
      const remembered = decimals.get(tokenId)
      if (remembered !== undefined) return remembered
      return runAsOne(decimalFlights, { key: tokenId, chainId, signal }, async (shared) => {
        const read = await readDecimals(tokenId, shared)
        decimals.set(tokenId, read, 1)
        return read
      })
    },
    forget() {
      known.clear()
      decimals.clear()
    },
  }
}

async function explore(
  view: HyperliquidView,
  transactionId: string,
  signal: AbortSignal,
): Promise<HyperliquidTransaction | undefined> {
  return parseTransaction(await view.explore(transactionRequest(transactionId), signal), transactionId)
}

/** Ledgers name tokens by symbols, which the same endpoint resolves. */
async function lookUp(
  view: HyperliquidView,
  transactionId: string,
  { user, timestampMs }: LedgerPlace,
  signal: AbortSignal,
): Promise<HyperliquidTransaction | undefined> {
  const [ledger, meta] = await Promise.all([
    view.ask(ledgerRequest(user, timestampMs), signal),
    view.ask(spotMetaRequest, signal),
  ])
  const found = parseLedgerSend(ledger, transactionId)
  if (found?.timeMs !== BigInt(timestampMs)) return undefined
  return withTokenId(found, meta)
}

function withTokenId(found: LedgerSend, meta: unknown): HyperliquidTransaction {
  const { send } = found
  const listed = parseSpotTokens(meta).filter(({ name }) => name === send.token)
  const [token] = listed
  if (token === undefined || listed.length > 1) throw new MalformedAnswerError('spotMeta')
  return { ...found, send: { ...send, token: `${send.token}:${token.tokenId}` } }
}

function judge(seen: HyperliquidTransaction | undefined): Sighting<HyperliquidTransaction> {
  if (seen === undefined) return { kind: 'refused', reason: 'missing' }
  if (seen.hasFailed) return { kind: 'refused', reason: 'reverted' }
  return { kind: 'final', facts: seen }
}

function textOfBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
