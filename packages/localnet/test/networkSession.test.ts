// Goal: the whole start runs services in order, tells what ended and why, and leaves nothing running.
// Method: small services of this test's own beside real chains; what quote-api does is its own test.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { attachLocalNetwork } from '../src/network/operate/attach.ts'
import { parseOperatorCommand } from '../src/network/operate/commands.ts'
import { runOperatorCommand } from '../src/network/operate/runCommand.ts'
import type { ServicePlan } from '../src/network/services/servicePlan.ts'
import { type Session, type SessionOptions, startSession } from '../src/network/services/startSession.ts'
import { startAnvil } from '../src/nodes/anvil.ts'
import { processIdentity } from '../src/processes/processIdentity.ts'
import { waitUntil } from '../src/waitUntil.ts'
import { freeChainPorts } from './support/freeChainPorts.ts'
import { allGone, copyOf, nodePids } from './support/networkBench.ts'
import { firstServicePort } from './support/servicePorts.ts'
import { stoppedNetworkFolder } from './support/stoppedNetwork.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))
let template: string

beforeAll(async () => {
  template = await stoppedNetworkFolder()
}, 120_000)

function service(name: string, manner: string): ServicePlan {
  return {
    name,
    about: `${manner} for a test`,
    script: 'packages/localnet/test/support/smallService.mjs',
    ports: ({ quote }) => ({ ops: quote }),
    environment: async ({ writeSecret }, ports) => ({
      MANNER: manner,
      OPS_PORT: String(ports['ops']),
      SECRET_FILE: await writeSecret(`${name}.key`, '0xsecret'),
    }),
    readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
  }
}

type Started = {
  readonly session: Session
  readonly stages: readonly string[]
  readonly lines: readonly string[]
}

async function start(
  directory: string,
  services: readonly ServicePlan[],
  options: Partial<SessionOptions> = {},
): Promise<Started> {
  const stages: string[] = []
  const lines: string[] = []
  const session = await startSession({
    directory,
    services,
    ports: await freeChainPorts(),
    firstPorts: { quote: firstServicePort(), oracle: firstServicePort() },
    repositoryRoot,
    environment: { PATH: process.env['PATH'], ENVIRONMENT: 'inherited' },
    report: (line) => lines.push(line),
    stageDone: (name) => stages.push(name),
    signal: new AbortController().signal,
    ...options,
  })
  onTestFinished(() => session.stop())
  return { session, stages, lines }
}

const servicePids = ({ services }: Session) => services.map(({ process }) => process.pid)

describe('startSession', () => {
  it('starts services side by side, each on its own free ports, and stops them in reverse', async () => {
    const directory = await copyOf(template)
    const { session, stages } = await start(directory, [service('first', 'good'), service('second', 'good')])
    expect(stages[0]).toBe('chains')
    expect([...stages].sort()).toEqual(['chains', 'first', 'second'])
    const [first, second] = session.services
    expect(first?.ports['ops']).not.toBe(second?.ports['ops'])
    const answer = await fetch(`http://127.0.0.1:${second?.ports['ops']}/ready`)
    const secret = join(directory, 'secrets', 'second.key')
    expect(await answer.json()).toEqual({ environment: 'inherited', secret })
    expect((await stat(secret)).mode & 0o777).toBe(0o600)

    const pids = [...nodePids(session.network), ...servicePids(session)]
    await session.stop()
    expect(await allGone(pids)).toBe(true)
    const ended = async (name: string) => (await stat(join(directory, 'logs', `${name}.log`))).mtimeMs
    expect(await readFile(join(directory, 'logs', 'first.log'), 'utf8')).toBe('I am good\nasked to end\n')
    expect(await ended('second')).toBeLessThanOrEqual(await ended('first'))
    expect(await readdir(directory)).not.toContain('run.json')
    expect(await readdir(directory)).not.toContain('network.json')
  })

  it('O-53: a service reads a chain where the shell says, else through nodes of the personality', async () => {
    const reader: ServicePlan = {
      ...service('reader', 'good'),
      environment: async ({ network: { chains } }, ports) => ({
        MANNER: 'good',
        OPS_PORT: String(ports['ops']),
        SECRET_FILE: '',
        RELAY_RPC_URL: chains.hub.url,
        BASE_RPC_URL: chains.base.url,
        BASE_WS_RPC_URL: 'ws://127.0.0.1:1',
        OPTIMISM_RPC_URL: chains.optimism.url,
        OPTIMISM_WS_RPC_URL: 'ws://127.0.0.1:2',
        SOLANA_RPC_URL: '',
      }),
    }
    const { session, lines } = await start(await copyOf(template), [reader], {
      endpoints: 'batch-3',
      environment: { PATH: process.env['PATH'], OPTIMISM_RPC_URL: 'http://own.example', SOLANA_RPC_URL: 'x' },
    })
    const { chains, paths } = session.network
    const read = JSON.parse(await readFile(paths.serviceFile('reader'), 'utf8'))
    expect(read).toMatchObject({ RELAY_RPC_URL: chains.hub.url, BASE_WS_RPC_URL: '', SOLANA_RPC_URL: '' })
    expect(read).toMatchObject({ OPTIMISM_RPC_URL: 'http://own.example', OPTIMISM_WS_RPC_URL: '' })
    expect(lines).toContainEqual(expect.stringContaining('OPTIMISM_RPC_URL'))
    const ask = async (count: number) => {
      const calls = Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }))
      return (await fetch(read.BASE_RPC_URL, { method: 'POST', body: JSON.stringify(calls) })).status
    }
    expect([await ask(3), await ask(4)]).toEqual([200, 500])
    await session.endpoints.changePersonality('batch-10')
    expect([await ask(4), await ask(11)]).toEqual([200, 200])
    await session.stop()
    await expect(ask(1)).rejects.toThrow('fetch failed')
  })

  it('tells which service ended, with its last words, and stops the rest', async () => {
    const { session } = await start(await copyOf(template), [service('one', 'good'), service('two', 'good')])
    const [one] = session.services
    if (one === undefined) throw new Error('no service')
    process.kill(one.process.pid, 'SIGKILL')
    const end = await session.failed
    expect(end).toMatchObject({ name: 'one', how: 'ended with SIGKILL', lastOutput: 'I am good\n' })
    await session.stop()
    expect(await allGone([...nodePids(session.network), ...servicePids(session)])).toBe(true)
  })

  it('tells that a node ended', async () => {
    const { session } = await start(await copyOf(template), [])
    process.kill(session.network.chains.hub.pid, 'SIGKILL')
    expect(await session.failed).toMatchObject({ name: 'anvil-hub', how: 'ended with SIGKILL' })
  })

  it('ends what a killed service has left in its group', async () => {
    const { session } = await start(await copyOf(template), [service('parent', 'with-child')])
    const [parent] = session.services
    const child = Number(/child ([0-9]+)/.exec(parent?.process.lastOutput() ?? '')?.[1])
    expect(await processIdentity(child)).toBeDefined()
    process.kill(parent?.process.pid ?? 0, 'SIGKILL')
    await session.failed
    expect(await processIdentity(child)).toBeDefined()
    await session.stop()
    expect(await allGone([child])).toBe(true)
  })

  it('gives up with the log and its last lines when a service does not come up', async () => {
    const directory = await copyOf(template)
    const plans = [service('one', 'good'), service('broken', 'failing'), service('slow', 'never-ready')]
    const stages: string[] = []
    const failing = start(directory, plans, { stageDone: (name) => stages.push(name) })
    await expect(failing).rejects.toThrow(
      `broken ended with exit code 3; its log is ${join(directory, 'logs', 'broken.log')}\nI am failing\nthe setting X is wrong`,
    )
    expect(stages).not.toContain('slow')
    expect(await readdir(directory)).not.toContain('run.json')
  })

  it('stops what it has started when it is told to give up', async () => {
    const directory = await copyOf(template)
    const stopping = new AbortController()
    const failing = start(directory, [service('one', 'good'), service('slow', 'never-ready')], {
      signal: stopping.signal,
    })
    await Promise.all([
      expect(failing).rejects.toThrow('aborted'),
      (async () => {
        const log = join(directory, 'logs', 'slow.log')
        await waitUntil('the slow one runs', () =>
          readFile(log, 'utf8').then(
            (text) => text !== '',
            () => false,
          ),
        )
        stopping.abort()
      })(),
    ])
    expect(await readFile(join(directory, 'logs', 'slow.log'), 'utf8')).toContain('asked to end')
    expect(await readdir(directory)).not.toContain('run.json')
  })

  it('gives up when a node dies while services start', async () => {
    const directory = await copyOf(template)
    const failing = start(directory, [service('slow', 'never-ready')], {
      stageDone: () => {
        void readFile(join(directory, 'run.json'), 'utf8').then((text) => {
          const { children } = JSON.parse(text)
          process.kill(children[0].pid, 'SIGKILL')
        })
      },
    })
    await expect(failing).rejects.toThrow(/^anvil-(base|optimism|hub) ended with SIGKILL; its log is /)
  })
})

describe('operators from another process', () => {
  it('find the network that runs, and only then', async () => {
    const directory = await copyOf(template)
    await expect(attachLocalNetwork(directory)).rejects.toThrow(`no local network runs in ${directory}`)
    const { session } = await start(directory, [])
    const network = await attachLocalNetwork(directory)
    expect(
      await runOperatorCommand(network, parseOperatorCommand(['prices', 'set', 'ETH/USD', '2600'])),
    ).toBe('Feeds and pools of base and optimism say ETH/USD 2600.')
    expect(await runOperatorCommand(network, parseOperatorCommand(['basefee', 'set', 'base', '5gwei']))).toBe(
      'The base fee of base is 5 gwei.',
    )
    const { client } = session.network.chains.hub.chain
    const before = await client.getBlockNumber({ cacheTime: 0 })
    await runOperatorCommand(network, parseOperatorCommand(['mine', 'hub', '3']))
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThanOrEqual(before + 3n)

    const file = await readFile(join(directory, 'network.json'), 'utf8')
    await session.stop()
    await expect(attachLocalNetwork(directory)).rejects.toThrow('npm start starts one')
    // As after a kill, and with somebody else's node on the port by now.
    await writeFile(join(directory, 'network.json'), file)
    const { base } = session.network.chains
    const stranger = await startAnvil({ chainId: base.chainId, port: base.port })
    onTestFinished(() => stranger.stop())
    await expect(attachLocalNetwork(directory)).rejects.toThrow('npm start starts one')
    expect(JSON.parse(file)).toMatchObject({ oracles: [], chains: [{ name: 'base' }, { name: 'optimism' }] })
  })
})
