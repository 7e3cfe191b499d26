// Goal: an operator takes the services to test networks and loses no more than he said. Attacks: a sum that is too small, a
// process that is killed with money lent, endpoints that are hosted nodes and hold keys, contracts that are missing, another
// oracle that is asked for the same. Method: the commands of field.md, on the chains of a rehearsal, which stand for test
// networks.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import {
  type FaultProxy,
  nodePersonalities,
  type PersonalityName,
  startFaultProxy,
  waitUntil,
} from '@causeway/localnet'
import { type BitcoinNode, ConstructedChain, startBitcoinNode } from '@causeway/localnet/standIns/bitcoin'
import { createPublicClient, createTestClient, getContractAddress, http, parseUnits, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillWalletKeyOf } from '../../scripts/field/run.ts'
import { replay } from '../../scripts/replay/readFolder.ts'
import { sectionsOf } from './support/pageShell.ts'
import { type RehearsalBed, startRehearsalBed } from './support/rehearsalBed.ts'

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))
/** Only ends a run that hangs. */
const patienceMs = 900_000
const endpointKey = 'k3y0fth1sendp01nt'
/** In the order of the chain file. */
const chainNames = ['optimism', 'base'] as const
/** Remainder where the last fee of a rollup is not known to the last wei. */
const dustWei = 200_000_000_000_000n

let bed: RehearsalBed
let bitcoin: BitcoinNode
let folder: string
const proxies: FaultProxy[] = []
let variables: Readonly<Record<string, string>>

const given = (name: string) => bed.given[name] ?? ''
// CAST: what a rehearsal gives are addresses and keys.
const funderKey = () => given('USER_PRIVATE_KEY') as Hex
const nodeOf = (chain: (typeof chainNames)[number]) =>
  given(`${chain.toUpperCase()}_RPC_URL`).split(',')[0] ?? ''
const clientOf = (chain: (typeof chainNames)[number]) =>
  createPublicClient({ transport: http(nodeOf(chain)), cacheTime: 0 })

/** Wei of an account on each chain. */
const balancesOf = (address: Hex) =>
  Promise.all(chainNames.map((chain) => clientOf(chain).getBalance({ address })))
const fillWallet = () => privateKeyToAddress(fillWalletKeyOf(funderKey()))

/** An endpoint that answers so, and whose URL holds a key. */
async function hosted(url: string, personality: PersonalityName): Promise<string> {
  const proxy = await startFaultProxy({ targetUrl: url })
  proxies.push(proxy)
  await proxy.set({ kind: 'hosted', personality: nodePersonalities[personality] })
  return `${proxy.url}/v2/${endpointKey}`
}

/** One whose chain takes as much more for each of a run's own payments as a new account does since Glamsterdam. */
async function dear(url: string): Promise<string> {
  const proxy = await startFaultProxy({ targetUrl: url })
  proxies.push(proxy)
  await proxy.set({
    kind: 'lie',
    rewrite: ({ method, params }, result) => {
      const value = Object((Array.isArray(params) ? params : [])[0])['value']
      const isPayment = method === 'eth_estimateGas' && typeof value === 'string' && BigInt(value) > 0n
      return isPayment && typeof result === 'string' ? toHex(BigInt(result) + 183_600n) : result
    },
  })
  return `${proxy.url}/v2/${endpointKey}`
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-field-'))
  // The database server runs as an account of its own where tests run as root.
  await chmod(folder, 0o755)
  bitcoin = await startBitcoinNode(new ConstructedChain())
  bed = await startRehearsalBed(repositoryRoot)
  const sections = await sectionsOf(join(repositoryRoot, 'docs/operating/production.md'))
  const end = sections.findIndex(({ heading }) => heading === 'Contracts')
  for (const { blocks } of sections.slice(0, end + 1)) for (const block of blocks) await bed.shell.run(block)
  const onOptimism = [
    await hosted(nodeOf('optimism'), 'batch-10'),
    await hosted(nodeOf('optimism'), 'log-range-2000'),
  ]
  const onBase = [await dear(nodeOf('base')), await hosted(nodeOf('base'), 'log-range-2000')]
  variables = {
    CONFIG_DIR: given('CONFIG_DIR'),
    DEFILLAMA_URL: given('DEFILLAMA_URL'),
    BASE_RPC_URL: onBase.join(','),
    OPTIMISM_RPC_URL: onOptimism.join(','),
    RELAY_RPC_URL: given('RELAY_RPC_URL').split(',')[0] ?? '',
    FIELD_PRIVATE_KEY: funderKey(),
  }
}, patienceMs)
afterAll(async () => {
  await bed?.shell.run('kill "$(cat "$DEPLOY/oracle-1/pid")" 2> /dev/null || true').catch(() => {})
  for (const proxy of proxies) await proxy.stop()
  await bitcoin?.stop()
  await bed?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}, patienceMs)

const environment = (more: Readonly<Record<string, string>>) => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ...variables,
  ...more,
})
const wordsOf = (words: readonly string[]) => [
  'run',
  '-s',
  'field',
  '--',
  'rehearsal',
  '--out',
  folder,
  ...words,
]

type Run = { readonly ok: boolean; readonly printed: string }

/** @param told takes all that was printed until then, and the process */
function startField(
  words: readonly string[],
  more: Readonly<Record<string, string>>,
  told: (printed: string, child: ChildProcess) => void,
): ChildProcess {
  const child = spawn('npm', wordsOf(words), {
    cwd: repositoryRoot,
    env: environment(more),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      // A run takes minutes: whoever waits sees its step.
      process.stdout.write(chunk)
      told(printed, child)
    })
  return child
}

/** Signals npm and every process that it started. */
function signalAll({ pid }: ChildProcess, signal: 'SIGINT' | 'SIGKILL'): void {
  if (pid !== undefined) process.kill(-pid, signal)
}

async function field(
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
  seen: (printed: string, child: ChildProcess) => void = () => {},
): Promise<Run> {
  let printed = ''
  const child = startField(words, more, (all) => {
    printed = all
    seen(all, child)
  })
  // Closed by the last that wrote: npm may end first.
  const [code] = await once(child, 'close')
  return { ok: code === 0, printed }
}

async function lastRun(): Promise<string> {
  const runs = (await readdir(folder)).filter((name) => /^\d{4}-/.test(name)).sort()
  return join(folder, runs.at(-1) ?? '')
}

/** Micro-USD that a step was said to spend at most. */
function saidOf(printed: string, step: string): bigint {
  const [, usd] = new RegExp(`^${step}: spends at most ([0-9.]+) USD`, 'm').exec(printed) ?? []
  if (usd === undefined) throw new Error(`nothing was said of ${step}: ${printed}`)
  return parseUnits(usd, 6)
}

let lendMicroUsd: bigint

test(
  'O-110: a dry run says every step and sends nothing',
  async () => {
    const before = await balancesOf(privateKeyToAddress(funderKey()))
    const families = { FIELD_READ_URLS: `bitcoin-vm=${bitcoin.url('esplora')}` }
    const { ok, printed } = await field(['--dry-run'], families)
    expect([ok, printed]).toEqual([true, expect.stringContaining('deposit optimism to base: spends at most')])
    // A family that nothing is paid on is read.
    expect(await readdir(join(await lastRun(), 'records', 'bitcoin-vm'))).toContain('SOURCES.md')
    lendMicroUsd = saidOf(printed, 'lend optimism')
    expect(await balancesOf(privateKeyToAddress(funderKey()))).toEqual(before)
  },
  patienceMs,
)

test(
  'O-117: a dry run names an account that has nothing yet, and what it may need on each chain',
  async () => {
    const key = generatePrivateKey()
    const { ok, printed } = await field(['--dry-run'], { FIELD_PRIVATE_KEY: key })
    const needs = chainNames.map((chain) => `0 coins on ${chain}, and may need 0\\.\\d+`)
    expect(printed).toMatch(new RegExp(`^${privateKeyToAddress(key)} has ${needs.join('; ')}\\.$`, 'm'))
    expect(ok).toBe(true)
    // Without coins nothing else begins.
    const short = await field([], { FIELD_PRIVATE_KEY: key })
    expect([short.ok, short.printed]).toEqual([
      false,
      expect.stringContaining(`Not enough: ${privateKeyToAddress(key)}`),
    ])
  },
  patienceMs,
)

test(
  'O-110, O-111: a sum that is too small stops before the step that would exceed it, and what was lent goes back',
  async () => {
    const funder = privateKeyToAddress(funderKey())
    const before = await balancesOf(funder)
    const sum = (Number(lendMicroUsd) * 1.3) / 1e6
    const { ok, printed } = await field(['--max-usd', sum.toFixed(6)])
    expect([ok, printed]).toEqual([false, expect.stringContaining('lend base would exceed the sum')])
    expect(printed).toMatch(/lend optimism: spends at most .*\n {2}done: /)
    expect(printed).not.toContain('deposit optimism to base')
    const [onOptimism = 0n, onBase] = await balancesOf(funder)
    expect(onBase).toBe(before[1])
    expect((before[0] ?? 0n) - onOptimism).toBeLessThan(dustWei)
    for (const left of await balancesOf(fillWallet())) expect(left).toBeLessThan(dustWei)
    expect(await readFile(join(await lastRun(), 'report.md'), 'utf8')).toContain('| lend base | not taken |')
  },
  patienceMs,
)

test(
  'O-111: Ctrl-C while services start gives back what was lent',
  async () => {
    let isTold = false
    const { ok, printed } = await field(['--max-usd', '200'], {}, (all, child) => {
      if (isTold || !/^start: /m.test(all)) return
      isTold = true
      signalAll(child, 'SIGINT')
    })
    expect([ok, printed]).toEqual([false, expect.stringContaining('Stopped: it was told to')])
    for (const left of await balancesOf(fillWallet())) expect(left).toBeLessThan(dustWei)
    expect(await readFile(join(await lastRun(), 'report.md'), 'utf8')).toMatch(
      /Given back: .+ optimism; .+ base/,
    )
    expect(printed).not.toContain('quote optimism to base')
  },
  patienceMs,
)

test(
  'O-111, O-112: a run that is killed after it deployed and lent leaves money that the next one finds',
  async () => {
    const node = createTestClient({ mode: 'anvil', transport: http(nodeOf('base')) })
    const quote = JSON.parse(await readFile(join(given('CONFIG_DIR'), 'quote.rehearsal.json'), 'utf8'))
    const { fillContract } = quote.chains.base
    // It made another one, at the place of its first nonce.
    for (const address of [fillContract, getContractAddress({ from: fillContract, nonce: 1n })]) {
      await node.setCode({ address, bytecode: '0x' })
      await node.setNonce({ address, nonce: 0 })
    }
    let printed = ''
    const child = startField(['--max-usd', '200'], {}, (all) => {
      printed = all
    })
    await waitUntil('services start', () => /^start: /m.test(printed), {
      patienceMs: 300_000,
      circumstances: () => printed,
    })
    signalAll(child, 'SIGKILL')
    expect(printed).toMatch(/deploy base: spends at most .*\n {2}done: /)
    for (const left of await balancesOf(fillWallet())) expect(left).toBeGreaterThan(dustWei)
  },
  patienceMs,
)

/** A member of the report's table. */
const rowsOf = (report: string) =>
  [...report.matchAll(/^\| (\S+(?: \S+)*) \| (done|failed|not taken) \|/gm)].map(
    ([, step = '', outcome = '']) => [step, outcome] as const,
  )

test(
  'O-110, O-111, O-112, O-113, O-116: a whole run pays both ways, is attested, agrees with another oracle, and loses no more than it said',
  async () => {
    // One oracle of the rehearsal is the public one.
    await bed.shell.run(`
caps=0x${'0'.repeat(40)}=10000000000000000000
BASE_SIGNING_CAPS=$caps OPTIMISM_SIGNING_CAPS=$caps node --env-file="$DEPLOY/oracle-1/env" apps/oracle/dist/main.js \\
  < /dev/null > "$DEPLOY/oracle-1/log" 2>&1 &
echo $! > "$DEPLOY/oracle-1/pid"
`)
    const funder = privateKeyToAddress(funderKey())
    const before = await balancesOf(funder)
    const lent = await balancesOf(fillWallet())
    const publicOracle = `http://127.0.0.1:${bed.ports.oracle + 1}`
    const { ok, printed } = await field(['--max-usd', '100'], { PUBLIC_ORACLE_URL: publicOracle })
    const run = await lastRun()
    const report = await readFile(join(run, 'report.md'), 'utf8').catch(() => printed)
    const pairs = ['optimism to base', 'base to optimism'].flatMap((pair) =>
      ['quote', 'deposit', 'fill', 'attest', 'compare'].map((kind) => `${kind} ${pair}`),
    )
    // A little more is lent where gas became more expensive.
    const rows = rowsOf(report).filter(([step]) => !step.startsWith('lend '))
    expect(rows, printed).toEqual(
      ['read optimism', 'read base', 'start', ...pairs].map((step) => [step, 'done']),
    )
    expect(ok).toBe(true)
    // The remainder of the killed run's loan was returned too.
    for (const left of await balancesOf(fillWallet())) expect(left).toBeLessThan(dustWei)
    const after = await balancesOf(funder)
    const [, spent = ''] = /^Spent: ([0-9.]+) USD of at most 100 USD/m.exec(report) ?? []
    expect(parseUnits(spent, 6)).toBeGreaterThan(0n)
    expect(parseUnits(spent, 6)).toBeLessThan(parseUnits('100', 6))
    for (const [index, balance] of after.entries())
      expect(balance).toBeGreaterThan((before[index] ?? 0n) + (lent[index] ?? 0n) - 10n ** 16n)
    // Each step was said before it was done.
    for (const step of pairs) expect(printed.indexOf(`${step}: spends`), step).toBeGreaterThan(-1)

    const lines: string[] = []
    expect(await replay(join(run, 'records'), (line) => lines.push(line)), lines.join('\n')).toBe(0)
    expect(lines.at(-1)).toMatch(/ 0 not understood, 0 differ$/)
    const kinds = new Set(lines.map((line) => line.split('-').slice(0, 4).join('-')))
    expect([...kinds].join()).toContain('ethereum-vm/eth-getBlockByNumber')
    const secrets = [endpointKey, funderKey().slice(2), fillWalletKeyOf(funderKey()).slice(2), '127.0.0.1']
    for (const name of ['ethereum-vm', 'errors']) {
      const names = await readdir(join(run, 'records', name)).catch(() => [])
      for (const file of names) {
        const text = await readFile(join(run, 'records', name, file), 'utf8')
        for (const secret of secrets) expect(text.includes(secret), `${file}: ${text}`).toBe(false)
      }
    }
    for (const secret of secrets) expect(report.includes(secret)).toBe(false)
  },
  patienceMs,
)
