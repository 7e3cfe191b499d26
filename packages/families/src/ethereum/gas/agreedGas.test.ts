import type { GasModel } from '@causeway/core/config'
import type { PollOptions, RpcAnswer, RpcCall } from '@causeway/rpc'
import { defaultThreshold, estimatesNeeded } from '@causeway/rpc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agreeOnEach, type PollingClient } from '../agreement/agreedReads.ts'
import type { ChainHead } from '../agreement/head.ts'
import { agreeOnGas } from './agreedGas.ts'
import { feeHistoryRequest } from './feeModel.ts'

const model: GasModel = {
  kind: 'eip1559',
  historyBlocks: 10,
  rewardPercentile: 20,
  minPriorityFeeWei: 7n,
  ceilingBlocks: 10,
  ceilingFactor: 4,
  ceilingFromWei: 0n,
  inclusionBlocks: 6,
  markupBps: 1_000,
}
const head: ChainHead = {
  number: 100n,
  hash: `0x${'11'.repeat(32)}`,
  parentHash: `0x${'22'.repeat(32)}`,
  timestampSeconds: 1,
  baseFeePerGasWei: 800n,
}

type Said = { readonly tip?: bigint; readonly next?: bigint; readonly base?: bigint } | 'silent'

function historyOf({ tip = 10n, next = 820n, base = 800n }: Exclude<Said, 'silent'>): RpcAnswer {
  const hex = (value: bigint) => `0x${value.toString(16)}`
  return {
    ok: true,
    result: {
      oldestBlock: '0x62',
      baseFeePerGas: [hex(base), hex(base), hex(next)],
      gasUsedRatio: [0.5, 0.5],
      reward: [[hex(tip)], [hex(tip)]],
    },
  }
}

/** Endpoints, one per host, that say this of the fee history. */
function clientOf(said: readonly Said[], threshold = defaultThreshold(said.length)): PollingClient {
  const voters = said.map((_, index) => ({ alias: `e${index}`, voice: `e${index}` }))
  return {
    chainId: 'base',
    electorate: { voters, threshold },
    async poll<Outcome>(_calls: readonly RpcCall[], { decide }: PollOptions<Outcome>) {
      const votes = said.map((one, index) => ({
        alias: `e${index}`,
        voice: `e${index}`,
        value: one === 'silent' ? undefined : [historyOf(one)],
      }))
      const outcome = decide(votes, true)
      if (outcome === undefined) throw new Error('nothing follows')
      return outcome
    },
  }
}

async function gasOf(client: PollingClient, at = head) {
  const { verdicts } = await agreeOnEach(client, [feeHistoryRequest(model, at.number)])
  return agreeOnGas(client, { model, head: at, verdict: verdicts[0] })
}

describe('agreeOnGas', () => {
  test.each<readonly [string, readonly Said[], bigint, string]>([
    ['what two of three say alike', [{ tip: 10n }, { tip: 900n }, { tip: 10n }], 830n, 'agreed'],
    ['the middle tip of three that differ', [{ tip: 9n }, { tip: 12n }, { tip: 10n }], 830n, 'median'],
    [
      'the middle of three, wherever the liar is',
      [{ tip: 9n }, { tip: 10n ** 12n }, { tip: 10n }],
      830n,
      'median',
    ],
    ['the configured tip of two that differ', [{ tip: 9n }, { tip: 10n ** 12n }], 827n, 'configured'],
    [
      'the configured tip when one of three is silent',
      [{ tip: 9n }, 'silent', { tip: 12n }],
      827n,
      'configured',
    ],
    [
      'the agreed base fee of two next ones that differ',
      [{ next: 820n }, { next: 10n ** 12n }],
      807n,
      'configured',
    ],
  ])('Q-162: takes %s', async (_name, said, expectedWei, tipFrom) => {
    expect(await gasOf(clientOf(said))).toMatchObject({ price: { expectedWei }, tipFrom })
  })

  test('has nothing where endpoints contradict each other and blocks have no base fee', async () => {
    const before1559 = { ...head, baseFeePerGasWei: undefined }
    expect(await gasOf(clientOf([{ tip: 1n }, { tip: 2n }]), before1559)).toBeUndefined()
  })

  test('stays between what honest endpoints say, whatever a minority says', async () => {
    const wei = fc.bigInt({ min: 0n, max: 10n ** 15n })
    const honest = fc.bigInt({ min: 7n, max: 20n })
    const lie = fc.oneof(fc.constant<Said>('silent'), fc.record({ tip: wei, next: wei, base: wei }))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom([3, 2], [5, 4], [5, 3], [7, 5]),
        fc.array(honest, { minLength: 7, maxLength: 7 }),
        fc.array(lie, { minLength: 3, maxLength: 3 }),
        async ([count = 3, threshold = 2], tips, lies) => {
          const liars = count - threshold
          const said = Array.from(
            { length: count },
            (_, index): Said => (index < liars ? (lies[index] ?? 'silent') : { tip: tips[index] ?? 7n }),
          )
          const gas = await gasOf(clientOf(said, threshold))
          expect(gas?.price.expectedWei).toBeGreaterThanOrEqual(820n + 7n)
          expect(gas?.price.expectedWei).toBeLessThanOrEqual(820n + 20n)
        },
      ),
    )
  })
})

test.each([
  [3, 2, 3],
  [2, 2, 3],
  [5, 4, 3],
  [5, 3, 5],
  [7, 5, 5],
])('of %i hosts with threshold %i a median needs %i', (count, threshold, needed) => {
  expect(estimatesNeeded(clientOf(Array<Said>(count).fill({}), threshold).electorate)).toBe(needed)
})
