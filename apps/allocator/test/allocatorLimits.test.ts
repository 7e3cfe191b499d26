// Goal: what bounds the allocator holds over kills, restarts, a switch, a hub that changes its past and a second
// allocator. Method: processes on real nodes, killed and stopped as an operator's machine would.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCommandLine } from '@causeway/cli'
import type { Hex } from '@causeway/core'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allocatorProgram, operatorFiles } from '../src/compose/commands.ts'
import { configFolder, issueFinal, startAllocator, stateFolder } from './support/allocatorBench.ts'

let network: TestNetwork
beforeAll(async () => {
  network = await startTestNetwork()
})
afterAll(() => network?.stop())

const isSigned = async ({ signature }: { signature(): Promise<Hex> }) => (await signature()) !== '0x'

type Token = 'USDC' | 'USDX' | 'TIDE'
const tokenOf = (token: Token) => network.deployment.base.tokens[token]

/** A cap of one token on Base. Each test has its own token: what was signed of one within the hour counts for all. */
async function capped(
  token: Token,
  amount: bigint,
  change: object = {},
): Promise<Readonly<Record<string, string>>> {
  const caps = { [tokenOf(token)]: amount.toString() }
  return {
    CONFIG_DIR: await configFolder([{ chain: 'base', caps }, { chain: 'optimism' }], change),
    ALLOCATOR_ED25519_PRIVATE_KEY: '',
  }
}

const usedRatio = /allocator_cap_used_ratio\{[^}]*\} ([0-9.]+)/
/** @throws Error for what is no command */
async function command(words: string, stateDirectory: string): Promise<string> {
  const line = readCommandLine(words.split(' '), allocatorProgram)
  if (line.kind !== 'run' || 'isDoctor' in line.command) throw new Error(words)
  return line.command.run(operatorFiles(stateDirectory, Date.now), line.args)
}

describe('a cap', () => {
  test('holds what passes it, over a kill and a restart, until the operator releases it', async () => {
    const stateDirectory = await stateFolder()
    const variables = await capped('USDC', 5_000_000n)
    const first = await startAllocator(network, { stateDirectory, variables })
    await first.ready()
    const within = await issueFinal(network)
    await waitUntil('the first is signed', () => isSigned(within))
    const beyond = await issueFinal(network)
    await waitUntil('the second is held', () =>
      first.output().includes(`"payload_held","payloadId":"${beyond.payloadId}"`),
    )
    first.kill('SIGKILL')
    await first.ended

    const second = await startAllocator(network, { stateDirectory, variables })
    await second.ready()
    await waitUntil('it is still held', () =>
      second.output().includes(`"payload_held","payloadId":"${beyond.payloadId}"`),
    )
    const small = await issueFinal(network, { amount: 1_000_000n })
    await waitUntil('what fits is signed', () => isSigned(small))
    expect(await isSigned(beyond)).toBe(false)
    expect(await command('held list', stateDirectory)).toContain(beyond.payloadId)
    await command(`held release ${beyond.payloadId}`, stateDirectory)
    await waitUntil('the released one is signed', () => isSigned(beyond))
    const more = await issueFinal(network, { amount: 1n })
    await waitUntil('and no more', () =>
      second.output().includes(`"payload_held","payloadId":"${more.payloadId}"`),
    )
  })

  test('L-95: counts a payload once that was signed and not stored when the process was killed', async () => {
    const stateDirectory = await stateFolder()
    // It signs, and then finds gas too dear to store what it signed.
    const poor = await capped('USDX', 8_000_000n, { maxFeePerGasWei: '0' })
    const first = await startAllocator(network, { stateDirectory, variables: poor })
    await first.ready()
    const issued = await issueFinal(network, { currency: tokenOf('USDX') })
    await waitUntil('it is signed', () =>
      first.output().includes(`"payload_signed","payloadId":"${issued.payloadId}"`),
    )
    first.kill('SIGKILL')
    await first.ended
    expect(await isSigned(issued)).toBe(false)

    const variables = await capped('USDX', 8_000_000n)
    const second = await startAllocator(network, { stateDirectory, variables })
    await waitUntil('it is stored', () => isSigned(issued))
    const other = await issueFinal(network, { currency: tokenOf('USDX') })
    await waitUntil('the rest of the cap is there', () => isSigned(other))
    await waitUntil(
      'it is used up now',
      async () => usedRatio.exec((await second.ask('/metrics')).text)?.[1] === '1',
    )
  })
})

describe('the switch', () => {
  test('stops every signature of a running allocator, over a restart, until it is resumed', async () => {
    const stateDirectory = await stateFolder()
    const first = await startAllocator(network, { stateDirectory })
    await first.ready()
    await waitUntil('it is ready', async () => (await first.ask('/ready')).status === 200)
    await command('stop something looks wrong', stateDirectory)
    await waitUntil('it has noticed', () => first.output().includes('something looks wrong'))
    expect((await first.ask('/ready')).status).toBe(503)
    const issued = await issueFinal(network)
    first.kill('SIGTERM')
    await first.ended
    const second = await startAllocator(network, { stateDirectory })
    await second.ready()
    await waitUntil('it has noticed', () => second.output().includes('something looks wrong'))
    expect(await isSigned(issued)).toBe(false)
    await command('resume', stateDirectory)
    await waitUntil('it is signed', () => isSigned(issued))
    const audited = (await command('audit list', stateDirectory)).split('\n')
    expect(audited.map((line) => line.split('  ').slice(2))).toEqual([
      ['resume', '-', 'done'],
      ['stop', '-', 'done', 'something looks wrong'],
    ])
  })

  test('that cannot be read has been used', async () => {
    const stateDirectory = await stateFolder()
    await writeFile(join(stateDirectory, 'stopped.json'), '{"reason":')
    const allocator = await startAllocator(network, { stateDirectory })
    await allocator.ready()
    await waitUntil('it says so', () => allocator.output().includes('stopped.json cannot be read'))
    expect((await allocator.ask('/ready')).status).toBe(503)
  })
})

test('L-97: a hub that changes a final block gets nothing signed any more, over a restart, until the operator looked', async () => {
  const stateDirectory = await stateFolder()
  const { node } = network.chains.hub.chain
  const { client } = network.chains.hub.chain
  const kept = await client.getBlockNumber({ cacheTime: 0 })
  const snapshot = await node.snapshot()
  const first = await startAllocator(network, { stateDirectory })
  await first.ready()
  const before = await issueFinal(network)
  await waitUntil('it is signed', () => isSigned(before))
  await network.mine('hub', 3)
  const position = async () =>
    BigInt(JSON.parse(await readFile(join(stateDirectory, 'position.json'), 'utf8')).number)
  await waitUntil('it is done with a block that will change', async () =>
    position().then(
      (number) => number > kept,
      () => false,
    ),
  )
  expect(await command('status', stateDirectory)).toContain('up to block')
  const number = await position()
  await node.revert({ id: snapshot })
  await node.increaseTime({ seconds: 7 })
  const head = await client.getBlockNumber({ cacheTime: 0 })
  await network.mine('hub', Number(number - head) + 6)
  await waitUntil('it has noticed', () => first.output().includes('final_block_changed'))
  const after = await issueFinal(network)
  first.kill('SIGKILL')
  await first.ended
  const second = await startAllocator(network, { stateDirectory })
  await second.ready()
  await waitUntil('it is stopped', async () => (await second.ask('/ready')).status === 503)
  expect(await isSigned(after)).toBe(false)
  await command('resume', stateDirectory)
  await waitUntil('it is signed', () => isSigned(after))
})

describe('a second allocator', () => {
  test('L-96: with the same folder does not start, and with its own one signature is stored and both count it', async () => {
    const variables = await capped('TIDE', 8_000_000n)
    const [one, other] = [await stateFolder(), await stateFolder()]
    const first = await startAllocator(network, { stateDirectory: one, variables })
    await first.ready()
    const same = await startAllocator(network, { stateDirectory: one, variables })
    expect(await same.ended).toBe('exit code 1')
    expect(same.output()).toContain('STATE_DIR is used by another allocator')

    const second = await startAllocator(network, { stateDirectory: other, variables })
    await second.ready()
    const issued = await issueFinal(network, { currency: tokenOf('TIDE') })
    await waitUntil('it is signed', () => isSigned(issued))
    await network.mine('hub', 3)
    for (const { ask } of [first, second]) {
      await waitUntil(
        'it counts it',
        async () => Number(usedRatio.exec((await ask('/metrics')).text)?.[1]) >= 0.5,
      )
    }
    const stored = await issued.signature()
    const again = await issueFinal(network, { currency: tokenOf('TIDE') })
    await waitUntil('the next one is signed', () => isSigned(again))
    expect(await issued.signature()).toBe(stored)
  })
})
