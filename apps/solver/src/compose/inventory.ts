import { formatAmount, hubAlias, hubTokenId, type ProtocolChain } from '@causeway/core'
import { isContractChain } from '@causeway/core/config'
import { codecOf, InvalidAddressError } from '@causeway/core/encodings'
import { createHubBooks, type LinePayingChain, type RegisteredHub } from '@causeway/families'
import { createJsonRpcClient, createQuorumOver } from '@causeway/rpc'
import { createLogger } from '@causeway/service'
import { type EarnedDeposit, readEarnedDeposits } from '../wallet/exposure.ts'
import {
  describeInventory,
  type Holding,
  type HubBalance,
  type HubOwner,
  lastingSeconds,
  planInventory,
  type Withdrawal,
} from '../wallet/inventoryReport.ts'
import { readDayOutflows } from '../wallet/records.ts'
import { openChains, type PaidChain } from './chains.ts'
import type { SolverConfig } from './config.ts'
import { openDatabase } from './database.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { openHub } from './hub.ts'
import { openHubKey, openWallet, readFillKeys } from './keys.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Most payments that are looked up on the hub, newest first. */
const earnedMax = 5_000
const hubTimeoutMs = 120_000

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
    const hubDebts = await readOwed(files, config, earned)
    const holdings = await Promise.all(
      chains.paying.flatMap((chain) => {
        const { key, chainId, codec } = chain
        const balanceOf = balancesOn(chain)
        return currenciesOn(chain, files, hubDebts).map(
          async ({ currency, ...described }): Promise<Holding> => ({
            chain: key,
            currency,
            ...described,
            amount: await balanceOf(currency),
            floor: floorOf(files, key, currency),
            atHub: hubDebts?.atHub(key, currency) ?? [],
            unsettled: hubDebts?.unsettled(key, currency) ?? 0n,
            dayOutflow: outflows.reduce((sum, one) => {
              const isSameCurrency =
                one.chainId === chainId && codec.canonicalAddress(one.currency) === currency
              return isSameCurrency ? sum + one.amount : sum
            }, 0n),
          }),
        )
      }),
    )
    const plan = planInventory(holdings)
    const wallets = new Map(chains.paying.map(({ key, paying }) => [key, paying.address]))
    const commandOf = (withdrawal: Withdrawal, index: number) =>
      withdrawalCommand(withdrawal, { files, wallet: wallets.get(withdrawal.chain) ?? '', index })
    if (asJson) {
      const describedHoldings = holdings.map((one) => ({ ...one, lastsSeconds: lastingSeconds(one) }))
      const withdrawals = plan.withdrawals.map((one, index) => ({ ...one, command: commandOf(one, index) }))
      const inventoryReport = {
        holdings: describedHoldings,
        withdrawals,
        moves: plan.moves,
        isHubRead: hubDebts !== undefined,
      }
      return JSON.stringify(inventoryReport, (_key, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      )
    }
    const text = describeInventory(holdings, plan, { format: formatAmount, commandOf })
    return hubDebts === undefined ? `${text}\n${hubUnread}` : text
  } finally {
    await Promise.all([chains.close(), hub?.close()])
    await Promise.all([signer.close(), hubKey?.close()])
  }
}

const hubUnread =
  'What the hub owes is not read: chains.hub.<ENVIRONMENT>.json, its endpoints and ORDER_SIGNERS are needed.'

async function readRecords(config: SolverConfig) {
  const opened = await openDatabase(config, { onConnectionLost: () => undefined, joinRunning: true })
  try {
    return {
      outflows: await readDayOutflows(opened.database),
      earned: await readEarnedDeposits(opened.database, earnedMax),
    }
  } finally {
    await opened.close()
  }
}

/** What the hub owes the solver on a chain in a canonical currency: balances, and deposits that it has yet to move. */
type Owed = {
  atHub(chain: string, currency: string): readonly HubBalance[]
  unsettled(chain: string, currency: string): bigint
}

function openBooks({ id, endpoints, oracleAddress, hubAddress }: RegisteredHub) {
  const now = () => Date.now()
  const client = createJsonRpcClient({
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    now,
  })
  const quorum = createQuorumOver(client, { now })
  return { client, books: createHubBooks({ quorum, oracleAddress, hubAddress }) }
}

/** Reads what the hub owes; undefined without a hub, its endpoints or order signers. */
async function readOwed(
  { chains: { hub, chains }, quote }: LoadedFiles,
  { orderSigners }: Pick<SolverConfig, 'orderSigners'>,
  earned: readonly EarnedDeposit[],
): Promise<Owed | undefined> {
  if (hub === undefined || !hub.ready || orderSigners.size === 0) return undefined
  const { books, client } = openBooks(hub)
  const reading = { signal: AbortSignal.timeout(hubTimeoutMs) }
  const protocolChain = (key: string): ProtocolChain | undefined => {
    const chain = chains.get(key)
    return chain && { chainId: key, vmType: chain.vmType, network: chain.network }
  }
  // Orders name the solver by an EVM address, and so on EVM chains alone.
  const owners = Object.entries(quote.chains)
    .filter(([, config]) => isContractChain(config))
    .flatMap(([chain]) => [...orderSigners].map((account): HubOwner => ({ chain, account })))
  const accounts = Object.entries(quote.chains).flatMap(([key, { currencies }]) => {
    const chain = protocolChain(key)
    if (chain === undefined) return []
    return currencies.flatMap(({ address }) => {
      const currency = codecOf(chain).canonicalAddress(address)
      const tokenId = tokenOf(chain, currency)
      return tokenId === undefined ? [] : owners.map((owner) => ({ key, owner, currency, tokenId }))
    })
  })
  try {
    const balances = await books.balances(
      accounts.map(({ owner, tokenId }) => ({
        holder: hubAlias(protocolChain(owner.chain) ?? unknownChain(owner.chain), owner.account),
        tokenId,
      })),
      reading,
    )
    const moved = await books.executed(
      earned.map(({ key }) => key),
      reading,
    )
    const waiting = earned.filter((_one, index) => moved[index] === false)
    const isOf = (one: EarnedDeposit, chain: string, currency: string) =>
      one.chain === chain &&
      codecOf(protocolChain(chain) ?? unknownChain(chain)).canonicalAddress(one.currency) === currency
    return {
      atHub: (chain, currency) =>
        accounts.flatMap((one, index): readonly HubBalance[] => {
          const amount = balances[index] ?? 0n
          const isOwed = one.key === chain && one.currency === currency && amount > 0n
          return isOwed ? [{ ...one.owner, amount }] : []
        }),
      unsettled: (chain, currency) =>
        waiting.reduce((sum, one) => (isOf(one, chain, currency) ? sum + one.amount : sum), 0n),
    }
  } finally {
    await client.close()
  }
}

/** The hub's token of a currency; undefined if it has none, because nobody deposits that currency. */
function tokenOf(chain: ProtocolChain, currency: string): bigint | undefined {
  try {
    return hubTokenId(chain, currency)
  } catch (error) {
    if (error instanceof InvalidAddressError) return undefined
    throw error
  }
}

/** @throws Error always: the chain was found in the same file before */
function unknownChain(key: string): never {
  throw new Error(`${key} left the configuration`)
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

/** Sum of the outputs of the line and beside it. */
async function coinsOf(paying: LinePayingChain, currency: string): Promise<bigint> {
  if (currency !== paying.currency) return 0n
  const { tip } = await paying.look([])
  return (await paying.readOutputsBesideLine()).reduce((sum, { value }) => sum + value, tip.value)
}

/** Currencies of the report: those that the wallet pays in, the native coin, and others that the hub owes it. */
function currenciesOn({ key, codec }: PaidChain, { quote }: LoadedFiles, hubDebts: Owed | undefined) {
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
