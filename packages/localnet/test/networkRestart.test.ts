// Goal: the state of a local network survives stops and kills, and is one whole or nothing.
// Method: real nodes and contracts in folders of their own; folders are damaged between two starts.
import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Hex, parseEther } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { tokenAbi } from '../src/contracts/abis.generated.ts'
import { localAccount } from '../src/keys/generateKeys.ts'
import { startChainNode } from '../src/network/chainNode.ts'
import { chainPlans } from '../src/network/chainPlan.ts'
import { localPaths } from '../src/network/localPaths.ts'
import type { LocalNetwork } from '../src/network/startLocalNetwork.ts'
import { askNode } from '../src/nodes/askNode.ts'
import { StartFailure } from '../src/processes/processEnd.ts'
import { waitUntil } from '../src/waitUntil.ts'
import { earlierFolder, earlierNetworks } from './support/earlierNetworks.ts'
import { allGone, copyOf, networkFolder, nodePids, startNetwork } from './support/networkBench.ts'
import { stoppedNetworkFolder } from './support/stoppedNetwork.ts'

/** A network that was started once and stopped: what the damage tests copy. */
let template: string

beforeAll(async () => {
  template = await stoppedNetworkFolder()
}, 120_000)

const recipient: Hex = `0x${'ee'.repeat(20)}`

async function stateOf({ chains, deployment, keys }: LocalNetwork) {
  const { client } = chains.base.chain
  const [user] = keys.users
  if (user === undefined) throw new Error('no user')
  const token = (address: Hex) =>
    client.readContract({
      address: deployment.base.tokens.USDC,
      abi: tokenAbi,
      functionName: 'balanceOf',
      args: [address],
    })
  return {
    native: await client.getBalance({ address: recipient }),
    tokens: await token(recipient),
    nonce: await client.getTransactionCount({ address: user.address }),
    userTokens: await token(user.address),
    deployerNonce: await client.getTransactionCount({ address: keys.deployer.address }),
  }
}

/** A user pays the recipient in both currencies. @returns the transactions */
async function pay({ chains, deployment, keys }: LocalNetwork): Promise<readonly Hex[]> {
  const [user] = keys.users
  if (user === undefined) throw new Error('no user')
  const { publicClient, walletClient } = chains.base.chain.as(user)
  const hashes = [
    await walletClient.sendTransaction({ to: recipient, value: parseEther('1.5') }),
    await walletClient.writeContract({
      address: deployment.base.tokens.USDC,
      abi: tokenAbi,
      functionName: 'transfer',
      args: [recipient, 123_456_789n],
    }),
  ]
  for (const hash of hashes) await publicClient.waitForTransactionReceipt({ hash })
  return hashes
}

describe('a second start', () => {
  it('continues balances, contract state and nonces, with the same keys, and deploys nothing', async () => {
    const directory = await copyOf(template)
    const first = await startNetwork(directory)
    expect(first.network.origin).toBe('kept')
    expect(first.lines).toEqual([])
    await pay(first.network)
    const before = await stateOf(first.network)
    expect(before).toMatchObject({ native: parseEther('1.5'), tokens: 123_456_789n, nonce: 2 })
    const { keys, deployment } = first.network
    await first.network.stop()

    const second = await startNetwork(directory)
    expect(second.network.origin).toBe('kept')
    expect(second.network.keys).toEqual(keys)
    expect(second.network.deployment).toEqual(deployment)
    expect(await stateOf(second.network)).toEqual(before)
  })

  it('knows traces and balances of blocks before the stop', async () => {
    const directory = await copyOf(template)
    const first = await startNetwork(directory)
    const { client } = first.network.chains.base.chain
    const blockBefore = await client.getBlockNumber({ cacheTime: 0 })
    const [payment] = await pay(first.network)
    await first.network.stop()

    const second = await startNetwork(directory)
    const again = second.network.chains.base.chain.client
    const trace = await askNode(second.network.chains.base.url, 'debug_traceTransaction', [
      payment,
      { tracer: 'callTracer' },
    ])
    expect(trace).toMatchObject({ to: recipient, value: '0x14d1120d7b160000' })
    expect(await again.getBalance({ address: recipient, blockNumber: blockBefore })).toBe(0n)
    expect(await again.getBalance({ address: recipient, blockTag: 'finalized' })).toBe(parseEther('1.5'))
  })

  it('leaves nothing running and nothing half-written when it stops', async () => {
    const directory = await copyOf(template)
    const { network } = await startNetwork(directory)
    await network.stop()
    expect(await allGone(nodePids(network))).toBe(true)
    expect((await readdir(directory)).sort()).toEqual(['chains', 'keys.json', 'logs', 'manifest.json'])
    expect((await readdir(join(directory, 'chains'))).sort()).toEqual([
      'base.json',
      'hub.json',
      'optimism.json',
    ])
  })

  it('takes the next free port when somebody listens on the first choice', async () => {
    const holder = await startNetwork(await copyOf(template))
    const { base, optimism, hub } = holder.network.chains
    const ports = { base: base.port, optimism: optimism.port, hub: hub.port }
    const { network } = await startNetwork(await copyOf(template), { ports })
    for (const key of ['base', 'optimism', 'hub'] as const) {
      expect(network.chains[key].port).toBeGreaterThan(ports[key])
    }
    expect(await network.chains.base.chain.client.getChainId()).toBe(8453)
  })
})

describe('a node that is killed', () => {
  it('is reported, and what it had mined is there after the next start', async () => {
    const directory = await copyOf(template)
    const first = await startNetwork(directory, { keeperTiming: { lookMs: 50 } })
    await pay(first.network)
    const before = await stateOf(first.network)
    const saved = join(directory, 'chains', 'base.json')
    await waitUntil('the payments are saved', async () =>
      (await readFile(saved, 'utf8')).includes('ee'.repeat(20)),
    )
    process.kill(first.network.chains.base.pid, 'SIGKILL')
    const end = await first.network.nodeEnded
    expect(end).toMatchObject({ name: 'anvil-base', how: 'SIGKILL' })
    await first.network.stop()

    const second = await startNetwork(directory)
    expect(second.network.origin).toBe('kept')
    expect(await stateOf(second.network)).toEqual(before)
    const { client } = second.network.chains.base.chain
    // The finalized block is of before the kill, and its state is known all the same.
    expect(await client.getBalance({ address: recipient, blockTag: 'finalized' })).toBe(before.native)
  })
})

describe('state that is not whole', () => {
  const chainFile = (directory: string, key: string) => join(directory, 'chains', `${key}.json`)

  it.each<[string, string, (directory: string) => Promise<void>]>([
    [
      'a chain file that is missing',
      'the chain file of hub is missing',
      (directory) => rm(chainFile(directory, 'hub')),
    ],
    [
      'a chain file that is cut off',
      'the chain file of optimism cannot be loaded',
      (directory) => truncate(chainFile(directory, 'optimism'), 5_000),
    ],
    [
      'a chain file of another chain',
      'the chain file of base belongs to another network',
      (directory) => cp(chainFile(directory, 'optimism'), chainFile(directory, 'base')),
    ],
    [
      'keys that are half-written',
      'keys.json is not a whole key file of a local network',
      (directory) => truncate(join(directory, 'keys.json'), 700),
    ],
    [
      'a first start that was killed before its end',
      'an earlier first start did not finish',
      (directory) => rm(join(directory, 'manifest.json')),
    ],
  ])(
    'O-81: %s: everything is built anew, and what was there is moved aside',
    async (_what, reason, damage) => {
      const directory = await copyOf(template)
      const oldKeys = await readFile(join(directory, 'keys.json'), 'utf8')
      await damage(directory)
      await writeFile(join(directory, 'service-state'), 'of a service that lived with the old chains')
      const { network, lines } = await startNetwork(directory)
      const aside = (await readdir(directory)).find((name) => name.startsWith('release-')) ?? ''
      const place = join(directory, aside)
      expect(lines).toEqual([
        `The local network is built anew: ${reason}. What was there stands in ${place}.`,
      ])
      expect(network.origin).toBe('deployed')
      expect(await readFile(join(directory, 'keys.json'), 'utf8')).not.toBe(oldKeys)
      expect((await readFile(join(place, 'keys.json'), 'utf8')).slice(0, 700)).toBe(oldKeys.slice(0, 700))
      expect(await readdir(directory)).not.toContain('service-state')
      expect(await readdir(place)).toContain('service-state')
      expect(await stateOf(network)).toMatchObject({ native: 0n, nonce: 0 })
    },
  )

  it('a chain file of another network: everything is rebuilt and one line says so', async () => {
    const directory = await copyOf(template)
    const other = await stoppedNetworkFolder()
    await cp(chainFile(other, 'base'), chainFile(directory, 'base'))
    const { network, lines } = await startNetwork(directory)
    const reason = 'the chain file of base belongs to another network'
    expect(lines).toEqual([expect.stringContaining(`The local network is built anew: ${reason}.`)])
    expect(network.origin).toBe('deployed')
  })
})

describe('a node that does not start', () => {
  it('is named with its log, and its chain file is not to blame', async () => {
    const directory = await copyOf(template)
    const { network } = await startNetwork(await copyOf(template))
    const paths = localPaths(directory)
    const starting = startChainNode({
      plan: chainPlans.base,
      paths,
      port: network.chains.base.port,
      onSpawn: async () => {},
    })
    await expect(starting).rejects.toThrow(StartFailure)
    await expect(starting).rejects.toThrow(
      `anvil-base did not start; its log is ${paths.logFile('anvil-base')}`,
    )
    const { origin } = (await startNetwork(directory)).network
    expect(origin).toBe('kept')
  })
})

describe('--fresh', () => {
  it('O-102: moves the old network aside without looking at it, and that one goes on from there', async () => {
    const directory = await copyOf(template)
    const { keys } = JSON.parse(await readFile(join(directory, 'keys.json'), 'utf8'))
    const { network, lines } = await startNetwork(directory, { fresh: true, release: '9.9.9' })
    const place = join(
      directory,
      (await readdir(directory)).find((name) => name.startsWith('release-')) ?? '',
    )
    expect(lines).toEqual([
      `The local network is built anew: asked for by --fresh. What was there stands in ${place}.`,
    ])
    expect(network.origin).toBe('deployed')
    expect(network.keys).not.toEqual(keys)
    await network.stop()
    const old = await startNetwork(place)
    expect([old.network.origin, old.network.keys]).toEqual(['kept', keys])
    await old.network.stop()

    const again = await startNetwork(directory, { fresh: true })
    expect(again.lines[0]).toContain(join(directory, 'release-9.9.9-'))
    expect(await readdir(directory)).toEqual(expect.arrayContaining([basename(place)]))
  })
})

describe('a network of an earlier release', () => {
  it.each([...earlierNetworks])(
    'O-102: of %s loses no file, and one line says where it stands',
    async (release, network) => {
      const directory = await networkFolder()
      const before = await earlierFolder(directory, network)
      const { lines } = await startNetwork(directory)
      const place = join(
        directory,
        (await readdir(directory)).find((name) => name.startsWith('release-')) ?? '',
      )
      expect(basename(place)).toMatch(new RegExp(`^release-${release}-\\d{4}-`))
      expect(lines).toEqual([expect.stringMatching(/^The local network is built anew: .*\.$/)])
      expect(lines[0]).toContain(`What was there stands in ${place}.`)
      for (const [name, text] of before) expect(await readFile(join(place, name), 'utf8')).toBe(text)
    },
  )
})

describe('keys that everybody knows', () => {
  it('are refused by role, and nothing is started or lost', async () => {
    const directory = await copyOf(template)
    const path = join(directory, 'keys.json')
    const file = JSON.parse(await readFile(path, 'utf8'))
    file.keys.sponsor = localAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
    await writeFile(path, JSON.stringify(file))
    await expect(startNetwork(directory)).rejects.toThrow(/published development keys \(sponsor\).*--fresh/)
    expect((await readdir(directory)).sort()).toEqual(['chains', 'keys.json', 'logs', 'manifest.json'])
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(file)
  })
})

describe('a folder with other files', () => {
  it('is refused, because its content might be wiped', async () => {
    const directory = await networkFolder()
    await cp(join(template, 'logs'), join(directory, 'precious'), { recursive: true })
    await expect(startNetwork(directory)).rejects.toThrow(/holds other files \(.+\).*CAUSEWAY_LOCAL_DIR/)
    expect(await readdir(directory)).toEqual(['precious'])
  })
})
