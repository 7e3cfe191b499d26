// Goal: one network runs per folder, and a run that was killed leaves nothing behind for ever.
// Method: networks as processes of their own, ended by SIGKILL; a run file that names a stranger.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { connectLocalChain } from '../src/nodes/localChain.ts'
import { processIdentity, stopProcess } from '../src/processes/processIdentity.ts'
import { waitUntil } from '../src/waitUntil.ts'
import { allGone, copyOf, nodePids, startNetwork } from './support/networkBench.ts'
import { stoppedNetworkFolder } from './support/stoppedNetwork.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))
const runner = fileURLToPath(new URL('support/networkRunner.ts', import.meta.url))
let template: string

beforeAll(async () => {
  template = await stoppedNetworkFolder()
}, 120_000)

type Run = { readonly child: ChildProcess; readonly pids: readonly number[]; readonly baseUrl: string }

/** A network in a process of its own. */
async function runNetwork(directory: string): Promise<Run> {
  const child = spawn(process.execPath, [runner, directory], {
    cwd: repositoryRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const run: Run = { child, ...JSON.parse(String(line)) }
  const nodes = await Promise.all(
    run.pids.map(async (pid) => ({ pid, identity: (await processIdentity(pid)) ?? '' })),
  )
  onTestFinished(async () => {
    for (const node of nodes) await stopProcess(node, { graceMs: 20_000 })
  })
  return run
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('a second start in the same folder', () => {
  it('is refused, names the process that runs, and does it no harm', async () => {
    const directory = await copyOf(template)
    const { network } = await startNetwork(directory)
    await expect(startNetwork(directory)).rejects.toThrow(
      `already runs here as process ${process.pid}: stop it with Ctrl-C, or with: kill ${process.pid}`,
    )
    expect(await network.chains.base.chain.client.getChainId()).toBe(8453)
    await network.stop()
    const next = await startNetwork(directory)
    expect(next.network.origin).toBe('kept')
  })

  it('is refused when another process runs it', async () => {
    const directory = await copyOf(template)
    const { child } = await runNetwork(directory)
    await expect(startNetwork(directory)).rejects.toThrow(`as process ${child.pid}:`)
  })

  it('is let through to one of many that start at once', async () => {
    const directory = await copyOf(template)
    const starts = await Promise.allSettled([1, 2, 3, 4].map(() => startNetwork(directory)))
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('a run that was killed', () => {
  it('leaves nodes that the next start stops, without losing what they mined', async () => {
    const directory = await copyOf(template)
    const { child, pids, baseUrl } = await runNetwork(directory)
    await kill(child)
    expect(await allGone(pids)).toBe(false)
    const account = `0x${'ab'.repeat(20)}` as const
    // Nobody saves the chain any more: only the node itself knows of this.
    const { node } = connectLocalChain(baseUrl, 8453)
    await node.setBalance({ address: account, value: 77n })
    await node.mine({ blocks: 1 })

    const { network, lines } = await startNetwork(directory)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^Stopped what a killed run had left: (anvil-(base|optimism|hub)(, )?){3}\.$/)
    expect(await allGone(pids)).toBe(true)
    expect(network.origin).toBe('kept')
    expect(await network.chains.base.chain.client.getBalance({ address: account })).toBe(77n)
  })

  it('continues from what was saved when its nodes were killed as well', async () => {
    const directory = await copyOf(template)
    const { child, pids } = await runNetwork(directory)
    await kill(child)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    // A signal is sent, not yet obeyed.
    await waitUntil('the nodes are gone', () => allGone(pids))
    const { network, lines } = await startNetwork(directory)
    expect(lines).toEqual([])
    expect(network.origin).toBe('kept')
  })

  it('never costs a stranger that has one of its process ids by now', async () => {
    const directory = await copyOf(template)
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    onTestFinished(() => {
      stranger.kill('SIGKILL')
    })
    const { pid } = stranger
    if (pid === undefined) throw new Error('no stranger')
    const identity = await processIdentity(pid)
    expect(identity).toBeDefined()
    const children = [{ name: 'anvil-base', pid, identity: '1 anvil' }]
    await writeFile(join(directory, 'run.json'), JSON.stringify({ pid, identity: '1 node', children }))
    const { network, lines } = await startNetwork(directory)
    expect(lines).toEqual([])
    expect(await processIdentity(pid)).toBe(identity)
    expect(nodePids(network)).not.toContain(pid)
  })

  it('leaves a torn run file that bars nobody', async () => {
    const directory = await copyOf(template)
    await writeFile(join(directory, 'run.json'), '{"pid": 1, "iden')
    const { network } = await startNetwork(directory)
    const run = JSON.parse(await readFile(join(directory, 'run.json'), 'utf8'))
    expect(run.pid).toBe(process.pid)
    expect(run.children.map((child: { pid: number }) => child.pid).sort()).toEqual(
      [...nodePids(network)].sort(),
    )
  })
})
