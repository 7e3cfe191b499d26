// Goal: what an exchange says about an account is asked again only where it can become another. Who gains by breaking it: an
// exchange that limits questions, asked by each quote whether its recipient is still there; a recipient who came to be and
// is refused, or charged for an account, for longer than two seconds. Method: endpoints of stand-ins, which count.
import { Secret } from '@causeway/core'
import type { VmType } from '@causeway/core/encodings'
import type { RegisteredChain } from '@causeway/families'
import { createHyperliquidVenue, startExchange } from '@causeway/localnet/standIns/hyperliquid'
import { startLighterNode } from '@causeway/localnet/standIns/lighter'
import { expect, onTestFinished, test } from 'vitest'
import { hyperliquidQuotingChain } from '../../packages/families/src/hyperliquid/quoting/hyperliquidQuotingChain.ts'
import { lighterQuotingChain } from '../../packages/families/src/lighter/quoting/lighterQuotingChain.ts'
import type { QuotingChainFamily } from '../../packages/families/src/shared/quotingChain.ts'

function open(family: QuotingChainFamily, vmType: VmType, url: string) {
  const chain: RegisteredChain = {
    id: 'exchange',
    vmType,
    network: undefined,
    hubChainId: '7',
    additionalData: {},
    ready: true,
    rpcThreshold: 1,
    unsetVariables: [],
    depository: '900001',
    endpoints: [new Secret(url)],
  }
  const client = family.connect(chain)
  onTestFinished(() => client.close())
  let nowMs = Date.now()
  const opened = family.open({
    client,
    multicall3: undefined,
    currentHead: () => undefined,
    budgetMs: 5_000,
    neededWithinMs: 5_000,
    now: () => nowMs,
    onFailure: (error) => expect(error).toBeUndefined(),
  })
  return {
    lackLater(account: string, currency: string, ms: number) {
      nowMs += ms
      return opened.lackOf(account, currency)
    },
  }
}

test('an account of Lighter that is there is asked for once, one that is not each two seconds', async () => {
  const node = await startLighterNode()
  onTestFinished(() => node.stop())
  const { lackLater } = open(lighterQuotingChain, 'lighter-vm', node.url)
  expect(await lackLater('50001', '0', 0)).toEqual({ isUnpayable: true })
  node.setAccount('50001', `0x${'c1'.repeat(20)}`)
  expect(await lackLater('50001', '0', 1_999)).toEqual({ isUnpayable: true })
  expect(await lackLater('50001', '0', 1)).toEqual({})
  node.reset()
  expect(await lackLater('50001', '0', 86_400_000)).toEqual({})
  expect(node.asked()).toEqual([])
})

test('an account of Hyperliquid that is there is asked for once, one that is not each two seconds', async () => {
  const account = `0x${'c2'.repeat(20)}`
  const lists = { transactions: [], tokens: [], accounts: new Set<string>(), recentMax: 10 }
  const venue = createHyperliquidVenue(lists)
  const exchange = await startExchange({ ...lists, venue })
  onTestFinished(() => exchange.stop())
  const { lackLater } = open(hyperliquidQuotingChain, 'hyperliquid-vm', exchange.url)
  const perps = `0x${'0'.repeat(32)}`
  expect(await lackLater(account, perps, 0)).toMatchObject({ isAbsent: true })
  venue.fund(account, { '': 1n })
  expect(await lackLater(account, perps, 1_999)).toMatchObject({ isAbsent: true })
  expect(await lackLater(account, perps, 1)).toEqual({})
  exchange.resetCounters()
  expect(await lackLater(account, perps, 86_400_000)).toEqual({})
  expect(exchange.counters()).toEqual({})
})
