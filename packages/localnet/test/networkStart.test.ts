// Goal: what a newcomer sees: `npm start` prints addresses and requests that work, and ends cleanly.
// Method: the process that `npm start` runs, from its bundles, in a folder and on ports of this test.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freeLoopbackPort } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readKeyFile } from '../src/keys/keyFile.ts'
import { keyRoles } from '../src/keys/publishedKeys.ts'
import { bundledScript } from '../src/processes/bundledScript.ts'
import { waitUntil } from '../src/waitUntil.ts'
import { allGone } from './support/networkBench.ts'
import { firstServicePort } from './support/servicePorts.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))
let folder: string
let directory: string
/** As `run.mjs` finds it. */
const script = bundledScript('scripts/start.ts')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-start-'))
  directory = join(folder, '.local')
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

type Start = {
  readonly child: ChildProcess
  readonly exited: Promise<unknown[]>
  output(): string
}

async function start(...words: readonly string[]): Promise<Start> {
  const child = spawn(process.execPath, [script, ...words], {
    cwd: repositoryRoot,
    env: {
      ...process.env,
      CAUSEWAY_LOCAL_DIR: directory,
      CAUSEWAY_CHAIN_PORT: String(await freeLoopbackPort()),
      CAUSEWAY_QUOTE_PORT: String(firstServicePort()),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })
  return { child, exited, output: () => output }
}

async function startUntilUp(...words: readonly string[]): Promise<Start> {
  const started = await start(...words)
  await waitUntil('everything is up', () => {
    if (started.child.exitCode !== null) throw new Error(started.output())
    return started.output().includes('Ctrl-C stops everything')
  })
  return started
}

/** Process ids of nodes, services and the database that runs under them. */
async function startedParts() {
  const run = JSON.parse(await readFile(join(directory, 'run.json'), 'utf8'))
  const postmaster = await readFile(join(directory, 'postgres', 'cluster', 'postmaster.pid'), 'utf8')
  const children: readonly { pid: number; name: string }[] = run.children
  const database = Number.parseInt(postmaster, 10)
  // The stand-ins of the other families end by themselves when who started them is gone.
  const standIns = children.filter(({ name }) => name === 'families').map(({ pid }) => pid)
  const services = children.filter(({ name, pid }) => !name.startsWith('anvil-') && !standIns.includes(pid))
  const quoteApi = services.find(({ name }) => name === 'quote-api')?.pid
  if (quoteApi === undefined) throw new Error('no quote-api')
  return {
    names: [...children.map(({ name }) => name)].sort(),
    pids: [...children.map(({ pid }) => pid), database],
    services: services.map(({ pid }) => pid),
    standIns,
    quoteApi,
    database,
  }
}

/** Does what pasting a printed curl line does. */
async function paste(line: string) {
  const match = /^curl -s (\S+) -H 'content-type: application\/json' -d '(.+)'$/.exec(line)
  if (match === null) throw new Error(`not a curl line: ${line}`)
  const [, url = '', body = ''] = match
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  return { path: new URL(url).pathname, status: response.status, answer: await response.json() }
}

/** O-115: what is printed for the oracle in shadow mode shows that the first one signs the same. */
async function expectComparison(lines: readonly string[]): Promise<void> {
  const asked = lines.find((line) => line.endsWith('"requestPeerSignatures":true}\''))
  const counted = lines.find((line) => line.endsWith('grep ^oracle_shadow_answers_total'))
  const [, , url = ''] = counted?.split(' ') ?? []
  const agrees = /^oracle_shadow_answers_total\{.*agrees="yes".*\} [1-9]/m
  // Other chains come up meanwhile: the first oracle may be too late for a first answer.
  const isCompared = async () =>
    (await paste(asked ?? '')).status === 200 && agrees.test(await (await fetch(url)).text())
  await waitUntil('it is attested and compared', isCompared, { pollMs: 500 })
}

const networkFile = async () => JSON.parse(await readFile(join(directory, 'network.json'), 'utf8'))

describe('npm start', () => {
  it('Q-114: prints requests that are answered, names its nodes, tells no key, ends with nothing left', async () => {
    const { child, exited, output } = await startUntilUp()
    const lines = output().split('\n')
    expect(lines[1]).toBe('First start: keys are generated, contracts deployed and accounts funded.')
    // Those that need a key or an earlier answer are tried by the tests of what they show.
    const curls = lines.filter((line) => /^curl -s \S+\/(price|quote) -H '[^']+' -d /.test(line))
    const answers = await Promise.all(curls.map(paste))
    expect(answers.map(({ path, status }) => [path, status])).toEqual([
      ['/price', 200],
      ['/quote', 200],
      ['/price', 200],
    ])
    expect(answers[1]?.answer).toMatchObject({ environment: 'local', steps: expect.any(Array) })

    const network = await networkFile()
    expect(await paste(curls[0] ?? '')).toMatchObject({ status: 200 })
    expect(new URL(curls[0]?.split(' ')[2] ?? '').origin).toBe(network.quoteApi.url)
    const listed = JSON.parse(await (await fetch(`${network.quoteApi.url}/chains`)).text())
    const shown: readonly { id: number; httpRpcUrl: string; iconUrl: string }[] = listed.chains
    const own = new Map<number, string>(
      network.chains.slice(0, 2).map(({ id, rpcUrl }: { id: number; rpcUrl: string }) => [id, rpcUrl]),
    )
    for (const { id, httpRpcUrl, iconUrl } of shown) {
      expect(iconUrl).toMatch(/^data:image\/svg\+xml,%3Csvg/)
      expect([id, httpRpcUrl]).toEqual([id, own.get(id) ?? ''])
    }
    const keyFile = await readKeyFile(join(directory, 'keys.json'))
    if (keyFile.kind !== 'read') throw new Error('no keys')
    for (const { account } of keyRoles(keyFile.keys)) {
      expect(output()).not.toContain(account.privateKey.slice(2))
    }
    expect(network.accounts).toEqual(keyFile.keys.users)
    for (const { secretKey } of network.solanaAccounts) expect(output()).not.toContain(secretKey)

    const second = await start()
    expect((await second.exited)[0]).toBe(1)
    expect(second.output()).toContain(`already runs here as process ${child.pid}`)

    const { pids, names } = await startedParts()
    const chains = ['anvil-base', 'anvil-hub', 'anvil-optimism', 'families']
    const services = ['oracle-1', 'oracle-2', 'oracle-3', 'quote-api', 'solver']
    expect(names).toEqual(['allocator', ...chains, ...services])
    child.kill('SIGINT')
    // A terminal sends it to the whole group, and npm once more.
    child.kill('SIGINT')
    expect((await exited)[0]).toBe(0)
    expect(await allGone(pids)).toBe(true)
    expect(output()).toContain('nothing is left running')
  })

  it('continues the second time, and ends with code 1 and the reason when a service dies', async () => {
    const { exited, output } = await startUntilUp()
    expect(output()).toContain('continued from the last start')
    const [curl] = output()
      .split('\n')
      .filter((line) => line.startsWith('curl'))
    expect(await paste(curl ?? '')).toMatchObject({ status: 200 })
    const { pids, quoteApi } = await startedParts()
    process.kill(quoteApi, 'SIGKILL')
    expect((await exited)[0]).toBe(1)
    expect(output()).toContain(
      `quote-api ended with SIGKILL; its log is ${join(directory, 'logs', 'quote-api.log')}`,
    )
    expect(await allGone(pids)).toBe(true)
  })

  it('cleans up after a start that was killed together with its services, also to begin anew', async () => {
    const killed = await startUntilUp()
    const { pids, services, standIns, database } = await startedParts()
    killed.child.kill('SIGKILL')
    await killed.exited
    expect(await allGone(pids)).toBe(false)
    for (const service of services) process.kill(service, 'SIGKILL')
    await waitUntil('the services and the stand-ins are gone', () => allGone([...services, ...standIns]))
    expect(await allGone([database])).toBe(false)

    const fresh = await startUntilUp('--fresh', '--shadow')
    expect(await allGone(pids)).toBe(true)
    expect(fresh.output()).toMatch(/Stopped what a killed run had left: anvil-\w+, anvil-\w+, anvil-\w+\./)
    expect(fresh.output()).toContain('built anew: asked for by --fresh. What was there stands in')
    await expectComparison(fresh.output().split('\n'))
  })

  it('can be stopped before everything is up', async () => {
    const { child, exited, output } = await start()
    await waitUntil('the chains are up', () => output().includes('  chains '))
    const run = JSON.parse(await readFile(join(directory, 'run.json'), 'utf8'))
    child.kill('SIGINT')
    expect((await exited)[0]).toBe(0)
    expect(output()).toContain('Stopped before everything was up.')
    expect(await allGone(run.children.map(({ pid }: { pid: number }) => pid))).toBe(true)
  })

  it('refuses what it does not understand', async () => {
    const { exited, output } = await start('--frehs')
    expect((await exited)[0]).toBe(2)
    expect(output()).toContain("unknown option '--frehs'\n(Did you mean --fresh?)")
  })
})
