import { deterministicId, type Hex, hubAlias, nonceMappingId } from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import type { HyperliquidWithdrawal } from '@causeway/families/rules'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import {
  type ExchangeLedger,
  type ListedTransaction,
  startExchange,
} from '@causeway/localnet/standIns/hyperliquid'
import type { HubEntries, HubEntry } from '../../../packages/families/src/shared/hubEntries.ts'

export const chainId = 'hyperliquid'
export const native = codecOf(mainNetwork('hyperliquid-vm')).nativeCurrency
export const depository = account('d1')
export const otherDepository = account('d2')
export const sender = account('51')
export const recipient = account('22')
export const orderId: Hex = `0x${'ab'.repeat(32)}`
export const noOrder: Hex = `0x${'0'.repeat(64)}`
export const timeMs = 1_761_563_890_702
export const timeSeconds = 1_761_563_890n

/** Ids of USDC and PURR are those of the main network. */
export const usdc = '0x6d1e7cde53ba9467b783cb7c530ce054'
export const hype = '0x0d01dc56dcaaca66ad901c959b4011ec'

type UsdSend = Extract<HyperliquidWithdrawal, { type: 'UsdSend' }>
type SendAsset = Extract<HyperliquidWithdrawal, { type: 'SendAsset' }>

export function usdSend(change: Partial<UsdSend> = {}): UsdSend {
  const route = { hyperliquidChain: 'Mainnet', destination: depository }
  return { type: 'UsdSend', ...route, amount: '12.5', time: BigInt(timeMs), ...change }
}

export function sendAsset(change: Partial<SendAsset> = {}): SendAsset {
  return {
    type: 'SendAsset',
    hyperliquidChain: 'Mainnet',
    destination: depository,
    sourceDex: 'spot',
    destinationDex: 'spot',
    token: `USDC:${usdc}`,
    amount: '12.5',
    fromSubAccount: '',
    nonce: BigInt(timeMs),
    ...change,
  }
}

/** One exchange and a hub whose entries the test writes. */
export type HyperliquidBed = {
  readonly ledger: ExchangeLedger
  readonly exchanges: readonly [FaultyService, FaultyService, FaultyService]
  /** Adds a transaction; its id. */
  list(action: ListedTransaction['action'], change?: Partial<ListedTransaction>): Hex
  /** Writes what the hub says of a nonce. */
  map(entry: Partial<HubEntry> & { readonly user?: string; readonly nonce?: bigint }): void
  readonly hubEntries: HubEntries
  reset(): void
  stop(): Promise<void>
}

export async function startHyperliquidBed(): Promise<HyperliquidBed> {
  const tokens = [
    { name: 'USDC', tokenId: usdc, szDecimals: 8 },
    { name: 'HYPE', tokenId: hype, szDecimals: 2 },
  ]
  const ledger: ExchangeLedger = {
    transactions: [],
    tokens,
    recentMax: 50,
    accounts: new Set([depository, otherDepository]),
  }
  const entries = new Map<string, HubEntry>()
  const exchanges = [
    await startExchange(ledger),
    await startExchange(ledger),
    await startExchange(ledger),
  ] as const
  const keyOf = (user: string, id: string) => `${user} ${id}`
  const entryAt = (user: string, id: string): HubEntry =>
    entries.get(keyOf(user, id)) ?? { data: '0x', createdAtSeconds: 0n, readAtSeconds: timeSeconds + 60n }
  return {
    ledger,
    exchanges: [...exchanges],
    list(action, change = {}) {
      const hash = deterministicId('listed', String(ledger.transactions.length))
      ledger.transactions.push({ hash, user: sender, timeMs, action, ...change })
      return hash
    },
    map({ user = sender, nonce = BigInt(timeMs), ...entry }) {
      const alias = hubAlias({ ...mainNetwork('hyperliquid-vm'), chainId }, user)
      const found = { data: orderId, createdAtSeconds: timeSeconds + 5n, readAtSeconds: timeSeconds + 60n }
      entries.set(keyOf(alias, nonceMappingId(nonce)), { ...found, ...entry })
    },
    hubEntries: {
      read: async (user, id) => entryAt(user, id),
      readEach: async (places) => places.map(({ user, id }) => entryAt(user, id)),
    },
    reset() {
      ledger.transactions.splice(0)
      ledger.recentMax = 50
      entries.clear()
      for (const exchange of exchanges) {
        exchange.set({ kind: 'none' })
        exchange.resetCounters()
      }
    },
    async stop() {
      await Promise.all(exchanges.map((exchange) => exchange.stop()))
    },
  }
}

/** 20 equal bytes. */
export function account(byte: string): Hex {
  return `0x${byte.repeat(20)}`
}
