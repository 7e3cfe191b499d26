import type { Variables } from '@causeway/chains'
import { formatAmount } from '@causeway/core'
import { isContractChain } from '@causeway/core/config'
import type { LinePayingChain } from '@causeway/families'
import { createLogger } from '@causeway/service'
import {
  describeInventory,
  type Holding,
  lastingSeconds,
  type Plan,
  planInventory,
  type Withdrawal,
} from '../wallet/inventoryReport.ts'
import { readEarnedDeposits } from '../wallet/paymentProofs.ts'
import { readDayOutflows } from '../wallet/records.ts'
import { withDatabase } from './backup.ts'
import { openChains } from './chains.ts'
import type { SolverConfig } from './config.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { openHub } from './hub.ts'
import { type HubDebts, readHubDebts } from './hubDebts.ts'
import { openHubKey, openWallet, readFillKeys } from './keys.ts'
import type { PaidChain } from './paidChain.ts'

/** Most payments that are looked up on the hub, newest first. */
const earnedMax = 5_000

/**
 * Reports the fill wallet's holdings on chains and on the hub, with advice what to withdraw and move; moves nothing.
 * @param options.asJson for programs: amounts as decimal strings in smallest units
 */
export async function reportInventory(
  config: SolverConfig,
  variables: Variables,
  { asJson }: { readonly asJson: boolean },
): Promise<string> {
  const logger = createLogger({ service: 'solver', level: 'silent' })
  const signer = await openWallet(variables, logger)
  const files = await loadFiles(config, variables, signer.address)
  const hubKey = await openHubKey(variables, logger)
  const hub = openHub(files, { oracles: config.oracles, signer: hubKey })
  const chains = await openChains(files, { signer, keys: readFillKeys(variables), hub, log: logger })
  try {
    const { outflows, earned } = await readRecords(config)
    const hubDebts = await readHubDebts(files, config, earned)
    const holdings = (
      await Promise.all(chains.paying.map((chain) => readHoldings(chain, { files, hubDebts, outflows })))
    ).flat()
    const plan = planInventory(holdings)
    const wallets = new Map(chains.paying.map(({ key, paying }) => [key, paying.address]))
    // Holdings are of chains that are paid on, so the wallet of a withdrawal is always known.
    const commandOf = (withdrawal: Withdrawal, index: number) =>
      withdrawalCommand(withdrawal, { files, wallet: wallets.get(withdrawal.chain) ?? '', index })
    if (asJson) return reportAsJson(holdings, plan, commandOf, hubDebts !== undefined)
    const text = describeInventory(holdings, plan, { format: formatAmount, commandOf })
    return hubDebts === undefined ? `${text}\n${hubUnread}` : text
  } finally {
    await Promise.all([chains.close(), hub?.close()])
    await Promise.all([signer.close(), hubKey?.close()])
  }
}

const hubUnread =
  'What the hub owes is not read: chains.hub.<ENVIRONMENT>.json, its endpoints and ORDER_SIGNERS are needed.'

function reportAsJson(
  holdings: readonly Holding[],
  plan: Plan,
  commandOf: (withdrawal: Withdrawal, index: number) => string,
  isHubRead: boolean,
): string {
  const report = {
    holdings: holdings.map((holding) => ({ ...holding, lastsSeconds: lastingSeconds(holding) })),
    withdrawals: plan.withdrawals.map((one, index) => ({ ...one, command: commandOf(one, index) })),
    moves: plan.moves,
    isHubRead,
  }
  return JSON.stringify(report, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** Reads the solver's own records: what it paid out in the last day, and deposits that it earned. */
function readRecords(config: SolverConfig) {
  return withDatabase(config, async (database) => ({
    outflows: await readDayOutflows(database),
    earned: await readEarnedDeposits(database, earnedMax),
  }))
}

/** Reads the wallet's holdings on one chain. */
function readHoldings(
  chain: PaidChain,
  facts: {
    readonly files: LoadedFiles
    readonly hubDebts: HubDebts | undefined
    readonly outflows: Awaited<ReturnType<typeof readDayOutflows>>
  },
): Promise<readonly Holding[]> {
  const { key, chainId, codec } = chain
  const { files, hubDebts, outflows } = facts
  const balanceOf = balancesOn(chain)
  const readHolding = async ({ currency, ...described }: ReportedCurrency): Promise<Holding> => ({
    chain: key,
    currency,
    ...described,
    amount: await balanceOf(currency),
    floor: floorOf(files, key, currency),
    atHub: hubDebts?.atHub(key, currency) ?? [],
    unsettled: hubDebts?.unsettled(key, currency) ?? 0n,
    dayOutflow: outflows
      .filter((outflow) => outflow.chainId === chainId)
      .filter((outflow) => codec.canonicalAddress(outflow.currency) === currency)
      .reduce((sum, { amount }) => sum + amount, 0n),
  })
  return Promise.all(currenciesOn(chain, files, hubDebts).map(readHolding))
}

/** Command line of a withdrawal; for other families, the page that describes the steps by hand. */
function withdrawalCommand(
  { chain, currency, amount, owner }: Withdrawal,
  { files, wallet, index }: { readonly files: LoadedFiles; readonly wallet: string; readonly index: number },
): string {
  const config = files.quote.chains[chain]
  if (config === undefined || !isContractChain(config))
    return 'see docs/reference/attestations/withdrawal-initiation.md'
  // A nonce is used once: running the same line twice withdraws once, and another report makes another nonce.
  const nonce = Date.now() + index
  return `RECIPIENT=${wallet} node scripts/run.mjs docs/guides/examples/withdrawEarned.ts ${chain} ${currency} ${amount} ${owner.chain} ${nonce}`
}

function balancesOn(chain: PaidChain): (currency: string) => Promise<bigint> {
  return chain.kind === 'line'
    ? (currency) => coinsOf(chain.paying, currency)
    : (currency) => chain.paying.balanceOf(currency)
}

/** Sum of the output at the end of the wallet's line and of its outputs beside the line. */
async function coinsOf(paying: LinePayingChain, currency: string): Promise<bigint> {
  if (currency !== paying.currency) return 0n
  // The end of the line is read; no transaction is asked about.
  const { tip } = await paying.look([])
  return (await paying.readOutputsBesideLine()).reduce((sum, { value }) => sum + value, tip.value)
}

type ReportedCurrency = Pick<Holding, 'currency' | 'symbol' | 'decimals' | 'asset' | 'targetShareBps'>

/** Currencies of the report: those that the wallet pays in, the native coin, and others that the hub owes it. */
function currenciesOn(
  { key, codec }: PaidChain,
  { quote }: LoadedFiles,
  hubDebts: HubDebts | undefined,
): readonly ReportedCurrency[] {
  return (quote.chains[key]?.currencies ?? [])
    .map(({ address, ...one }) => ({ ...one, currency: codec.canonicalAddress(address) }))
    .filter(({ solver, currency }) => {
      const isOwed =
        (hubDebts?.atHub(key, currency).length ?? 0) > 0 || (hubDebts?.unsettled(key, currency) ?? 0n) > 0n
      return solver || currency === codec.nativeCurrency || isOwed
    })
    .map(({ currency, symbol, decimals, asset, targetShareBps }) => ({
      currency,
      symbol,
      decimals,
      asset,
      targetShareBps,
    }))
}

function floorOf({ solver }: LoadedFiles, key: string, address: string): bigint {
  return solver.chains[key]?.floors.find(({ currency }) => currency === address)?.amount ?? 0n
}
