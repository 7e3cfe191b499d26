import { userInfo } from 'node:os'
import { type LinePayingChain, readEnvironmentFiles } from '@causeway/chains'
import {
  ConfigurationError,
  counted,
  createFindings,
  formatAmount,
  type SqlDatabase,
  type VmCodec,
} from '@causeway/core'
import { createLogger } from '@causeway/http'
import { type ConfiguredSigner, describeAudit } from '@causeway/signer'
import { z } from 'zod'
import { type Figures, figures, readFigures, readSaid } from '../wallet/exposure.ts'
import { connectFillWallet } from '../wallet/fillWallet.ts'
import { describeInventory, type Holding, planMoves } from '../wallet/inventoryReport.ts'
import { createStopSwitch } from '../wallet/stopSwitch.ts'
import { openChains, type PaidChain } from './chains.ts'
import type { SolverConfig } from './config.ts'
import { openHubKey, openWallet, readFillKeys } from './createSolver.ts'
import { openDatabase } from './database.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { openHub } from './hub.ts'

type Variables = Readonly<Record<string, string | undefined>>

const usage =
  'Commands: doctor, stop <reason>, resume, go <chain|all> <reason>, status, inventory, audit list, backup, restore <file>.'

/**
 * What an operator asks of a solver, beside a running one.
 * @returns lines to print @throws ConfigurationError for words that are no command
 */
export async function runCommand(
  [command, ...words]: readonly string[],
  config: SolverConfig,
  variables: Variables,
): Promise<string> {
  switch (command) {
    case 'stop':
      if (words.length === 0)
        throw new ConfigurationError('stop needs a reason, which the next operator reads.')
      return setStop(config, { isStopped: true, reason: words.join(' ') })
    case 'resume':
      return setStop(config, { isStopped: false, reason: words.join(' ') })
    case 'status':
      return withSwitch(config, async (stop, database) => {
        const lines = describeExposure(await readFigures(database), await readSaid(database))
        return [describeStop(await stop.read()), ...lines].join('\n')
      })
    case 'go':
      return goOn(config, words)
    case 'audit':
      if (words.join(' ') !== 'list') throw new ConfigurationError(usage)
      return withSwitch(config, async (stop) => describeDeeds(await stop.deeds()))
    case 'inventory':
      return reportInventory(config, variables)
    default:
      throw new ConfigurationError(usage)
  }
}

type StopSwitch = ReturnType<typeof createStopSwitch>

async function withSwitch(
  config: SolverConfig,
  use: (stop: StopSwitch, database: SqlDatabase) => Promise<string>,
): Promise<string> {
  const opened = await openDatabase(config, { onConnectionLost: () => undefined, joinRunning: true })
  try {
    return await use(createStopSwitch(opened.database), opened.database)
  } finally {
    await opened.close()
  }
}

function setStop(
  config: SolverConfig,
  state: { readonly isStopped: boolean; readonly reason: string },
): Promise<string> {
  return withSwitch(config, async (stop) => {
    await stop.set({ ...state, actor: `cli:${userInfo().username}` })
    return describeStop(await stop.read())
  })
}

/** Ends the wait of a chain whose payments are not attested: from now on the operator answers for them. */
async function goOn(config: SolverConfig, [name, ...words]: readonly string[]): Promise<string> {
  const reason = words.join(' ')
  if (name === undefined || reason === '')
    throw new ConfigurationError('go needs a chain, or all, and a reason, which the next operator reads.')
  const chain = name === 'all' ? undefined : await readChain(config, name)
  return withSwitch(config, async (stop) => {
    const accepted = await stop.go({ chain, reason, actor: `cli:${userInfo().username}` })
    const left = counted(
      accepted,
      'payment that is not attested counts',
      'payments that are not attested count',
    )
    return `Of ${name} ${left} no more.`
  })
}

const chainNumbers = z.object({ chains: z.record(z.string(), z.object({ chainId: z.int().positive() })) })

/** @throws ConfigurationError for a chain that is not in the quote file: nothing would go on */
async function readChain({ environment, configDirectory: directory }: SolverConfig, name: string) {
  const [json] = await readEnvironmentFiles({ directory, environment }, ['quote'], createFindings())
  const chains = Object.entries(chainNumbers.safeParse(json).data?.chains ?? {})
  const [key, found] = chains.find(([key, { chainId }]) => key === name || String(chainId) === name) ?? []
  if (key === undefined || found === undefined)
    throw new ConfigurationError(`go: expected all or one of ${chains.map(([known]) => known).join(', ')}.`)
  return { key, chainId: found.chainId }
}

/** The figures of what is paid and not attested, by chain, and what oracles said of it. */
function describeExposure(sums: Figures, said: ReadonlyMap<number, string>): readonly string[] {
  const usd = (microUsd: bigint) => formatAmount(microUsd, 6)
  return [...sums].map(([chainId, own]) => {
    const parts = figures
      .filter((figure) => own[figure] > 0n)
      .map((figure) => `${figure} ${usd(own[figure])} USD`)
    const last = said.get(chainId)
    return `Chain ${chainId}, paid and not attested: ${parts.join(', ')}${last === undefined ? '' : ` (oracles said last: ${last})`}`
  })
}

const describeDeeds = (deeds: Awaited<ReturnType<StopSwitch['deeds']>>): string =>
  describeAudit(deeds.map(({ at, ...deed }) => ({ ...deed, at: at.toISOString(), subject: '-' })))

function describeStop({ isStopped, reason }: Awaited<ReturnType<StopSwitch['read']>>): string {
  if (!isStopped) return 'The solver may sign.'
  return `Stopped: ${reason}. What was signed before is followed to its end, and nothing new is signed.`
}

/** Moves nothing. */
async function reportInventory(config: SolverConfig, variables: Variables): Promise<string> {
  const logger = createLogger({ service: 'solver', level: 'silent' })
  const signer = await openWallet(variables, logger)
  const files = await loadFiles(config, variables, signer.address)
  const hubKey = await openHubKey(variables, logger)
  const hub = openHub(files, { oracles: config.oracles, signer: hubKey })
  const chains = await openChains(files, readFillKeys(variables), hub, logger)
  try {
    const holdings = await Promise.all(
      chains.paying.flatMap((chain) => {
        const { key, codec } = chain
        const balanceOf = balancesOn(chain, signer)
        return heldCurrencies(files, key, codec).map(
          async ({ address, symbol, decimals, asset, targetShareBps }): Promise<Holding> => ({
            ...{ chain: key, symbol, asset, decimals },
            amount: await balanceOf(address),
            floor: floorOf(files, key, address),
            targetShareBps,
          }),
        )
      }),
    )
    return describeInventory(holdings, planMoves(holdings), formatAmount)
  } finally {
    await Promise.all([chains.close(), hub?.close()])
    await Promise.all([signer.close(), hubKey?.close()])
  }
}

function balancesOn(chain: PaidChain, signer: ConfiguredSigner): (currency: string) => Promise<bigint> {
  if (chain.kind === 'marked') return chain.paying.balanceOf
  if (chain.kind === 'line') return (currency) => coinsOf(chain.paying, currency)
  const { chainId, client, finalBlocks } = chain
  return connectFillWallet({ chainId, client, finalBlocks, signer, nowMs: () => Date.now() }).balanceOf
}

/** Of the line, and beside it. */
async function coinsOf(paying: LinePayingChain, currency: string): Promise<bigint> {
  if (currency !== paying.currency) return 0n
  const { tip } = await paying.look([])
  return (await paying.besideLine()).reduce((sum, { value }) => sum + value, tip.value)
}

function heldCurrencies({ quote }: LoadedFiles, key: string, codec: VmCodec) {
  return (quote.chains[key]?.currencies ?? [])
    .filter(({ address, solver }) => solver || address === codec.nativeCurrency)
    .map(({ address, symbol, decimals, asset, targetShareBps }) => ({
      address: codec.canonicalAddress(address),
      ...{ symbol, decimals, asset, targetShareBps },
    }))
}

function floorOf({ solver }: LoadedFiles, key: string, address: string): bigint {
  return solver.chains[key]?.floors.find(({ currency }) => currency === address)?.amount ?? 0n
}
