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
import { askQuote, attestPayment, compareWith, waitForFill } from './payments.ts'
import {
  announce,
  depositGasMax,
  firstAbove,
  freeStep,
  gasWei,
  isWithin,
  microUsdOf,
  nameOf,
  neededWei,
  outputMicroUsd,
  paidStep,
  planSteps,
  type Step,
  transferGasMax,
  usdText,
  weiOf,
} from './plan.ts'
import { readFamily } from './readings.ts'
import { type Recording, startRecording } from './recording.ts'
import { isWhole, renderPlan, renderReport, type Taken } from './report.ts'
import type { FieldServices } from './services.ts'
import { deployContracts, prepareServices, startServices } from './startedServices.ts'

export type FieldRun = FieldOptions & {
  readonly repositoryRoot: string
  readonly print: (line: string) => void
  /** Ends it early; what is left is given back all the same. */
  readonly signal: AbortSignal
}

/** A chain as it was before anything was sent. */
type Opened = OpenChain & ChainReading & { readonly fillWalletWei: bigint }

/** A step was not taken, or failed, which is its cause. The run ends, and money goes back. */
class Stopped extends Error {}

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
  /** Of the report, the records and the logs. */
  readonly folder: string
  /** Of what ends with the run. */
  readonly state: string
  readonly runFile: RunFile
  readonly startedAt: Date
}

type Take = <Value>(step: Step, work: () => Promise<readonly [Value, string]>) => Promise<Value>

async function takeSteps(run: FieldRun, scene: Scene): Promise<boolean> {
  const { print, signal, sumMicroUsd, funderKey, environment } = run
  const { files, folder, startedAt } = scene
  const funder = privateKeyToAddress(funderKey)
  const fillWalletKey = fillWalletKeyOf(funderKey)
  const fillWallet = privateKeyToAddress(fillWalletKey)
  const records = join(folder, 'records')
  const secrets = [funderKey, fillWalletKey]
  const recording = await startRecording(run, files, { folder: records, secrets, print })
  const taken: Taken[] = []
  const opened: Opened[] = []
  const ends: (() => Promise<unknown>)[] = []
  let stopped: string | undefined

  /** What left the funded account until now. */
  async function outlay(): Promise<bigint> {
    let microUsd = 0n
    for (const { client, balanceWei, costs } of opened) {
      const now = await client.getBalance({ address: funder })
      microUsd += microUsdOf(balanceWei - now, costs.microUsdPerCoin)
    }
    return microUsd
  }

  /** What funded account and fill wallet have less than before. */
  async function spent(): Promise<bigint> {
    let microUsd = await outlay()
    for (const { client, fillWalletWei, costs } of opened) {
      const now = await client.getBalance({ address: fillWallet })
      microUsd += microUsdOf(fillWalletWei - now, costs.microUsdPerCoin)
    }
    return microUsd
  }

  /** Says what a step spends, and takes it where the sum allows. */
  async function take<Value>(step: Step, work: () => Promise<readonly [Value, string]>): Promise<Value> {
    signal.throwIfAborted()
    const outlayMicroUsd = await outlay()
    print(announce(step))
    const begin = performance.now()
    const end = (outcome: Taken['outcome'], told: string) => {
      taken.push({ step, outcome, told, seconds: (performance.now() - begin) / 1_000 })
      print(`  ${outcome}: ${recording.scrub(told)}`)
    }
    if (!isWithin(step, { outlayMicroUsd, sumMicroUsd })) {
      const why = `${usdText(outlayMicroUsd)} left the account already, and the sum is ${usdText(sumMicroUsd)}`
      end('not taken', why)
      throw new Stopped(`${nameOf(step)} would exceed the sum: ${why}`)
    }
    try {
      const [value, told] = await work()
      end('done', told)
      return value
    } catch (cause) {
      end('failed', wordsOf(cause))
      throw new Stopped(`${nameOf(step)} failed`, { cause })
    }
  }

  try {
    const open = files.chains.map((chain) => openChain(chain, recording.urlOf(chain.variable)))
    for (const chain of open) {
      const reading = await take(freeStep('read', { chain: chain.key }), async () => {
        const from = open.find(({ key }) => key === chain.feed.chain) ?? chain
        const coinPrice = await readCoinPrice(chain, from)
        const read = await readChain(chain, { environment, account: funder, coinPrice })
        const fillWalletWei = await chain.client.getBalance({ address: fillWallet })
        return [{ ...read, fillWalletWei }, `${read.told}, a coin at ${usdText(coinPrice)}`]
      })
      opened.push({ ...chain, ...reading })
    }
    for (const { family, url } of recording.families)
      await take(freeStep('read', { chain: family }), async () => {
        await readFamily(family, url)
        return [undefined, 'its answers are recorded']
      })
    const costs = opened.map((one) => one.costs)
    const steps = planSteps(costs, { isCompared: run.publicOracle !== undefined })
    if (run.isDryRun) {
      for (const line of renderPlan(steps, { sumMicroUsd, above: firstAbove(steps, sumMicroUsd) }))
        print(line)
    } else {
      refuseShortAccount(opened, steps, funder)
      const onStop = (end: () => Promise<unknown>) => void ends.push(end)
      const services = await prepareServices(run, {
        ...{ state: scene.state, endpoints: recording.variables, onStop },
        ...{ capVariables: files.capVariables, fillWalletKey },
      })
      await preparePayments(run, { ...scene, opened, steps, take, onStop, services, fillWallet })
      await tryPayments(run, { opened, take, services, funder })
    }
  } catch (error) {
    if (!(error instanceof Stopped || signal.aborted)) throw error
    stopped = error instanceof Stopped ? error.message : 'it was told to'
    print(`Stopped: ${recording.scrub(stopped)}`)
  } finally {
    // Services first, and their database last. Nothing keeps money from going back.
    for (const end of ends.reverse()) await end().catch((error: unknown) => print(`  ${error}`))
    if (!run.isDryRun) print('give back: spends the gas of a transfer on each chain, of what was lent')
    const givenBack = run.isDryRun ? [] : await giveBack(opened, { fillWalletKey, funder })
    const spentMicroUsd = await spent().catch(() => undefined)
    await recording.stop()
    const told = { environment, startedAt, endedAt: new Date(), taken, sumMicroUsd, spentMicroUsd, givenBack }
    const report = renderReport(
      { ...told, stopped, ...readRecorded(recording), replayed: await replayRecords(records) },
      recording.scrub,
    )
    await writeFile(join(folder, 'report.md'), report)
    print(`\n${report}`)
  }
  return isWhole({ taken, stopped })
}

const readRecorded = ({ requests, count }: Recording) => ({ requests: requests(), records: count() })

async function replayRecords(folder: string) {
  const lines: string[] = []
  await replay(folder, (line) => lines.push(line))
  return {
    counts: lines.at(-1) ?? '',
    faults: lines.filter((line) => /: (not understood|differs): /.test(line)),
  }
}

/** @throws ConfigurationError that says what the account lacks */
function refuseShortAccount(opened: readonly Opened[], steps: readonly Step[], funder: Hex): void {
  const short = opened.flatMap(({ key, balanceWei }) => {
    const needed = neededWei(steps, key)
    if (balanceWei >= needed) return []
    return [`${formatUnits(balanceWei, 18)} coins on ${key}, and may need ${formatUnits(needed, 18)}`]
  })
  if (short.length > 0) throw new ConfigurationError(`${funder} has ${short.join('; ')}.`)
}

/** Contracts stand, the fill wallet has its inventory, services run. */
async function preparePayments(
  { repositoryRoot, funderKey, print, signal }: FieldRun,
  scene: Scene & {
    readonly opened: readonly Opened[]
    readonly steps: readonly Step[]
    readonly take: Take
    /** Takes what stops what was started, in the order of the starts. */
    readonly onStop: (end: () => Promise<unknown>) => void
    readonly services: FieldServices
    readonly fillWallet: Hex
  },
): Promise<void> {
  const { opened, steps, take, onStop, services, fillWallet, folder, runFile } = scene
  for (const step of steps) {
    const chain = opened.find(({ key }) => key === step.chain)
    if (step.kind === 'deploy' && chain !== undefined) {
      await take(step, async () => {
        await deployContracts(services, chain, { repositoryRoot, deployerKey: funderKey })
        return [undefined, `the fill contract stands at ${chain.fillContract}`]
      })
    }
    if (step.kind === 'lend' && chain !== undefined) {
      const { costs } = chain
      const missing = await missingWei(chain, fillWallet, { costs, payments: opened.length - 1 })
      if (missing === 0n) continue
      await take(paidStep('lend', costs, { maxWei: missing + gasWei(transferGasMax, costs) }), async () => {
        const hash = await pay(chain, {
          ...{ from: funderKey, to: fillWallet, valueWei: missing },
          ...{ gasPriceMaxWei: costs.gasPriceMaxWei, gasMax: transferGasMax },
        })
        return [undefined, `${formatUnits(missing, 18)} coins to ${fillWallet} in ${hash}`]
      })
    }
  }
  await take(freeStep('start'), async () => {
    const logs = join(folder, 'logs')
    await startServices(services, { repositoryRoot, logs, runFile, print, signal, onStop })
    return [undefined, services.list.map(({ name }) => name).join(', ')]
  })
}

const wordsMax = 400

/** An error of a node may quote all that was sent. */
function wordsOf(error: unknown): string {
  const { shortMessage, message } = Object(error)
  return String(shortMessage ?? message ?? error).slice(0, wordsMax)
}

type Payments = {
  readonly opened: readonly Opened[]
  readonly take: Take
  readonly services: FieldServices
  readonly funder: Hex
}

/** Each chain pays each other one. One that fails keeps no other from being tried. */
async function tryPayments(run: FieldRun, payments: Payments): Promise<void> {
  const { opened } = payments
  for (const from of opened) {
    for (const to of opened.filter((one) => one !== from)) {
      try {
        await tryPayment(run, { ...payments, from, to })
      } catch (error) {
        if (!(error instanceof Stopped) || error.cause === undefined) throw error
      }
    }
  }
}

async function tryPayment(
  { signal, publicOracle, funderKey }: FieldRun,
  { take, services, funder, from, to }: Payments & { readonly from: Opened; readonly to: Opened },
): Promise<void> {
  const { costs } = from
  const place = { chain: from.key, to: to.key }
  const quoteApi = { url: services.quoteApiUrl, signal }
  const quoted = await take(freeStep('quote', place), async () => {
    const found = await askQuote(quoteApi, {
      ...{ user: funder, from, to, amountWei: weiOf(outputMicroUsd, to.costs) },
    })
    return [found, `request ${found.requestId}, ${found.received} coins to receive`]
  })
  const maxWei = quoted.payments.reduce(
    (sum, { valueWei }) => sum + valueWei + gasWei(depositGasMax, costs),
    0n,
  )
  await take(paidStep('deposit', costs, { maxWei, to: to.key }), async () => {
    const hashes: Hex[] = []
    const offered = { gasPriceMaxWei: costs.gasPriceMaxWei, gasMax: depositGasMax }
    for (const payment of quoted.payments)
      hashes.push(await pay(from, { ...payment, ...offered, from: funderKey }))
    return [undefined, hashes.join(', ')]
  })
  const paid = await take(freeStep('fill', place), async () => {
    const found = await waitForFill(quoteApi, quoted.requestId)
    return [found, `deposit ${found.deposit}, fill ${found.fill}`]
  })
  const attested = await take(freeStep('attest', place), async () => {
    const asked = { ...services.oracle, signal }
    const found = await attestPayment(asked, { ...quoted, ...paid, chainId: from.key })
    const signatures = found.map(({ answer }) => answer.execution?.signatures.length)
    return [found, `${signatures.join(' and ')} oracles signed deposit and fill`]
  })
  if (publicOracle === undefined) return
  await take(freeStep('compare', place), async () => {
    for (const one of attested) {
      const difference = await compareWith({ ...publicOracle, signal }, one)
      if (difference !== undefined) throw new Error(`${one.question.path}: ${difference}`)
    }
    return [undefined, 'the public oracle says the same of deposit and fill']
  })
}

/** @returns what went back to the funded account by chain, in words */
async function giveBack(
  opened: readonly Opened[],
  { fillWalletKey, funder }: { readonly fillWalletKey: Hex; readonly funder: Hex },
): Promise<readonly string[]> {
  const told: string[] = []
  for (const chain of opened) {
    try {
      const sent = await drain(chain, fillWalletKey, funder)
      if (sent > 0n) told.push(`${formatUnits(sent, 18)} coins on ${chain.key}`)
    } catch (error) {
      told.push(`nothing on ${chain.key}, where the next run tries again (${wordsOf(error)})`)
    }
  }
  return told
}
