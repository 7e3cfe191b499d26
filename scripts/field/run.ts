import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, type Hex } from '@causeway/core'
import { type RunFile, stopOrphanedDatabases, takeRunFile } from '@causeway/localnet'
import { concatHex, formatUnits, keccak256, stringToHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { replay } from '../replay/readFolder.ts'
import {
  type ChainReading,
  drain,
  missingWei,
  type OpenChain,
  openChain,
  pay,
  readChain,
  readCoinPrice,
} from './chains.ts'
import { type FieldFiles, readFieldFiles, withoutFloors } from './files.ts'
import type { FieldOptions } from './options.ts'
import {
  firstAbove,
  freeStep,
  gasWei,
  microUsdOf,
  neededWei,
  paidStep,
  planSteps,
  type Step,
  usdText,
} from './plan.ts'
import { readFamily } from './readings.ts'
import { type Recording, startRecording } from './recording.ts'
import { isWhole, renderPlan, renderReport, type StepResult } from './report.ts'
import type { FieldServices } from './services.ts'
import { deployContracts, prepareServices, startServices } from './startedServices.ts'
import { createSteps, Stopped, type Take, wordsOf } from './steps.ts'
import { tryPayments } from './tryPayments.ts'

export type FieldRun = FieldOptions & {
  readonly repositoryRoot: string
  readonly print: (line: string) => void
  /** Ends it early; what is left is given back all the same. */
  readonly signal: AbortSignal
}

/** A chain as it was before anything was sent. */
type Opened = OpenChain & ChainReading & { readonly fillWalletWei: bigint }

/**
 * The account that fills orders follows from the key of the one that pays: of a run that was killed, the next one
 * gives back what it left, and no file holds a key.
 */
export function fillWalletKeyOf(funderKey: Hex): Hex {
  return keccak256(concatHex([funderKey, stringToHex('fill wallet of the field')]))
}

/**
 * Takes every step that the sum allows, gives back what is left however it ends, and writes the report.
 * @returns whether every step was done @throws ConfigurationError where it cannot begin
 */
export async function runField(run: FieldRun): Promise<boolean> {
  const { directory, print, environment } = run
  const names = ['chains', 'chains.hub', 'quote', 'solver'] as const
  const [chains, hub, quote, solver] = await Promise.all(
    names.map((name) => readJson(join(run.configDirectory, `${name}.${environment}.json`))),
  )
  const files = readFieldFiles({ chains, hub, quote }, run.variables)
  await mkdir(directory, { recursive: true })
  const { runFile } = await takeRunFile(join(directory, 'run.json'), 'a run in the field')
  const state = join(directory, 'state')
  try {
    await mkdir(state, { recursive: true })
    await stopOrphanedDatabases(state)
    await rm(state, { recursive: true })
    await mkdir(join(state, 'configs'), { recursive: true })
    const written = { chains, 'chains.hub': hub, quote, solver: withoutFloors(solver) }
    for (const [name, json] of Object.entries(written))
      await writeFile(join(state, 'configs', `${name}.${environment}.json`), JSON.stringify(json, null, 2))
    const startedAt = new Date()
    const folder = join(directory, startedAt.toISOString().replaceAll(/[:.]/g, '-'))
    await mkdir(join(folder, 'logs'), { recursive: true })
    await mkdir(join(folder, 'records'))
    print(`What comes of it is written to ${folder}`)
    return await takeSteps(run, { files, folder, state, runFile, startedAt })
  } finally {
    await rm(state, { recursive: true, force: true })
    await runFile.release()
  }
}

/** @throws ConfigurationError */
async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) throw new ConfigurationError(`${path} cannot be read.`)
  return JSON.parse(text)
}

type Scene = {
  readonly files: FieldFiles
  /** Folder of the report, the records and the logs. */
  readonly folder: string
  /** Folder of files that are only needed during the run. */
  readonly state: string
  readonly runFile: RunFile
  readonly startedAt: Date
}

type Accounts = { readonly funder: Hex; readonly fillWallet: Hex; readonly fillWalletKey: Hex }

function accountsOf(funderKey: Hex): Accounts {
  const fillWalletKey = fillWalletKeyOf(funderKey)
  return {
    fillWalletKey,
    funder: privateKeyToAddress(funderKey),
    fillWallet: privateKeyToAddress(fillWalletKey),
  }
}

/** Context of every step of a run. */
type Stage = Scene & {
  readonly accounts: Accounts
  readonly recording: Recording
  /** Grows while chains are read. */
  readonly opened: Opened[]
  readonly take: Take
  /** Takes what stops what was started, in the order of the starts. */
  readonly onStop: (end: () => Promise<unknown>) => void
}

async function takeSteps(run: FieldRun, scene: Scene): Promise<boolean> {
  const { print, signal, funderKey } = run
  const accounts = accountsOf(funderKey)
  const folder = join(scene.folder, 'records')
  const secrets = [funderKey, accounts.fillWalletKey]
  const recording = await startRecording(run, scene.files, { folder, secrets, print })
  const opened: Opened[] = []
  const outlay = () => lostMicroUsd(opened, accounts.funder, ({ balanceWei }) => balanceWei)
  const { take, taken } = createSteps({ ...run, outlay, scrub: recording.scrub })
  const ends: (() => Promise<unknown>)[] = []
  const onStop = (end: () => Promise<unknown>) => void ends.push(end)
  const stage: Stage = { ...scene, accounts, recording, opened, take, onStop }
  let stopped: string | undefined
  try {
    await readAll(run, stage)
    await payAll(run, stage)
  } catch (error) {
    stopped = signal.aborted ? 'it was told to' : wordsOf(error)
    if (!(signal.aborted || error instanceof Stopped)) throw error
    print(`Stopped: ${recording.scrub(stopped)}`)
  } finally {
    // Services first, and their database last. Nothing keeps money from going back.
    for (const end of ends.reverse()) await end().catch((error: unknown) => print(`  ${error}`))
    await reportEnd(run, stage, { taken, stopped })
  }
  return isWhole({ taken, stopped })
}

/** Decrease of an account's balance over all chains, in microUSD. */
async function lostMicroUsd(
  opened: readonly Opened[],
  address: Hex,
  before: (chain: Opened) => bigint,
): Promise<bigint> {
  let microUsd = 0n
  for (const chain of opened) {
    const now = await chain.client.getBalance({ address })
    microUsd += microUsdOf(before(chain) - now, chain.costs.microUsdPerCoin)
  }
  return microUsd
}

/** Every chain, and what else is only read. */
async function readAll({ environment }: FieldRun, stage: Stage): Promise<void> {
  const { accounts, recording, opened, take, files } = stage
  const open = files.chains.map((chain) => openChain(chain, recording.urlOf(chain.variable)))
  for (const chain of open) {
    const reading = await take(freeStep('read', { chain: chain.key }), async () => {
      const from = open.find(({ key }) => key === chain.feed.chain) ?? chain
      const coinPrice = await readCoinPrice(chain, from)
      const { funder: account, fillWallet } = accounts
      const read = await readChain(chain, { environment, account, fillWallet, coinPrice })
      const fillWalletWei = await chain.client.getBalance({ address: accounts.fillWallet })
      return [{ ...read, fillWalletWei }, `${read.told}, a coin at ${usdText(coinPrice)}`]
    })
    opened.push({ ...chain, ...reading })
  }
  for (const { family, url } of recording.families)
    await take(freeStep('read', { chain: family }), async () => {
      await readFamily(family, url)
      return [undefined, 'its answers are recorded']
    })
}

/** All that may spend; a dry run says it, and no more. */
async function payAll(run: FieldRun, stage: Stage): Promise<void> {
  const { accounts, recording, opened, files, state, onStop } = stage
  const { sumMicroUsd, print } = run
  const costs = opened.map((one) => one.costs)
  const steps = planSteps(costs, { isCompared: run.publicOracle !== undefined })
  const needs = needsOf(opened, steps)
  const needed = `${accounts.funder} has ${needs.map(({ told }) => told).join('; ')}.`
  if (run.isDryRun) {
    for (const line of renderPlan(steps, { sumMicroUsd, above: firstAbove(steps, sumMicroUsd) })) print(line)
    print(needed)
    return
  }
  if (needs.some(({ isShort }) => isShort)) throw new ConfigurationError(`Not enough: ${needed}`)
  const { fillWalletKey } = accounts
  const services = await prepareServices(run, {
    state,
    endpoints: recording.variables,
    onStop,
    capVariables: files.capVariables,
    fillWalletKey,
  })
  await preparePayments(run, { ...stage, steps, services })
  await tryPayments(run, { ...stage, services, funder: accounts.funder })
}

/** Gives back what is left, and says what came of all of it. */
async function reportEnd(
  run: FieldRun,
  { accounts, recording, opened, folder, startedAt }: Stage,
  end: { readonly taken: readonly StepResult[]; readonly stopped: string | undefined },
): Promise<void> {
  const { environment, sumMicroUsd, isDryRun, print } = run
  const { funder, fillWallet } = accounts
  if (!isDryRun) print('give back: spends the gas of a transfer on each chain, of what was lent')
  const givenBack = isDryRun ? [] : await giveBack(opened, accounts)
  const lost = await Promise.all([
    lostMicroUsd(opened, funder, ({ balanceWei }) => balanceWei),
    lostMicroUsd(opened, fillWallet, ({ fillWalletWei }) => fillWalletWei),
  ]).catch(() => undefined)
  const spentMicroUsd = lost && lost[0] + lost[1]
  await recording.stop()
  const replayed = await replayRecords(join(folder, 'records'))
  const report = renderReport(
    {
      environment,
      startedAt,
      endedAt: new Date(),
      sumMicroUsd,
      spentMicroUsd,
      givenBack,
      ...end,
      requests: recording.requests(),
      records: recording.count(),
      replayed,
    },
    recording.scrub,
  )
  await writeFile(join(folder, 'report.md'), report)
  print(`\n${report}`)
}

async function replayRecords(folder: string) {
  const lines: string[] = []
  await replay(folder, (line) => lines.push(line))
  return {
    counts: lines.at(-1) ?? '',
    faults: lines.filter((line) => /: (not understood|differs): /.test(line)),
  }
}

/** Balance and maximum need of the account on each chain. */
function needsOf(opened: readonly Opened[], steps: readonly Step[]) {
  return opened.map(({ key, balanceWei }) => {
    const needed = neededWei(steps, key)
    const needText = `${formatUnits(balanceWei, 18)} coins on ${key}, and may need ${formatUnits(needed, 18)}`
    return { isShort: balanceWei < needed, told: needText }
  })
}

/** Contracts stand, the fill wallet has its inventory, services run. */
async function preparePayments(
  run: FieldRun,
  stage: Stage & { readonly steps: readonly Step[]; readonly services: FieldServices },
): Promise<void> {
  const { opened, steps, take, services, folder, runFile, onStop } = stage
  const { repositoryRoot, funderKey, print, signal } = run
  for (const step of steps) {
    const chain = opened.find(({ key }) => key === step.chain)
    if (step.kind === 'deploy' && chain !== undefined)
      await take(step, async () => {
        await deployContracts(services, chain, { repositoryRoot, deployerKey: funderKey })
        return [undefined, `the fill contract stands at ${chain.fillContract}`]
      })
    if (step.kind === 'lend' && chain !== undefined) await lend(run, stage, chain)
  }
  await take(freeStep('start'), async () => {
    const logs = join(folder, 'logs')
    await startServices(services, { repositoryRoot, logs, runFile, print, signal, onStop })
    return [undefined, services.list.map(({ name }) => name).join(', ')]
  })
}

/** Lends the outputs; those of a killed run are not lent again. */
async function lend({ funderKey }: FieldRun, { opened, take, accounts }: Stage, chain: Opened) {
  const { costs } = chain
  const { fillWallet: to } = accounts
  const valueWei = await missingWei(chain, to, { costs, payments: opened.length - 1 })
  if (valueWei === 0n) return
  await take(
    paidStep('lend', costs, { maxWei: valueWei + gasWei(costs.transferGasMax, costs) }),
    async () => {
      const offered = { gasPriceMaxWei: costs.gasPriceMaxWei, gasMax: costs.transferGasMax }
      const hash = await pay(chain, { ...offered, from: funderKey, to, valueWei })
      return [undefined, `${formatUnits(valueWei, 18)} coins to ${to} in ${hash}`]
    },
  )
}

/** @returns what went back to the funded account by chain, in words */
async function giveBack(
  opened: readonly Opened[],
  { fillWalletKey, funder }: Accounts,
): Promise<readonly string[]> {
  const lines: string[] = []
  for (const chain of opened) {
    try {
      const sent = await drain(chain, fillWalletKey, funder)
      if (sent > 0n) lines.push(`${formatUnits(sent, 18)} coins on ${chain.key}`)
    } catch (error) {
      lines.push(`nothing on ${chain.key}, where the next run tries again (${wordsOf(error)})`)
    }
  }
  return lines
}
