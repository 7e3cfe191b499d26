// Goal: a service in which every quote is refused is not ready, and says why by name. Attacks: no account that pays, no
// endpoint, chains that cannot be priced, prices that are all refused: each alone, with everything else well.
import { createReadiness } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import { expect, test } from 'vitest'
import { quotableChecks } from './quotable.ts'

const wallet = '0x5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f'
const currencies = new Map([['0x00', { asset: { priceKey: 'ETH/USD' } }]])
const well = {
  fillWallet: wallet,
  chains: {},
  clients: new Map([['base', {}]]),
  chain: () => ({ chainId: 8_453 }),
  price: () => ({ usdX18: 1n }),
}

async function reportOf(changed: Partial<Record<keyof typeof well, unknown>>) {
  const facts = { ...well, ...changed }
  // CAST: of all that these name, the checks read what stands here.
  const snapshot = { chain: facts.chain, price: facts.price } as unknown as MarketSnapshot
  const parts = {
    quote: { fillWallet: facts.fillWallet, chains: facts.chains },
    registry: { chains: [{ chainId: 8_453, currencies }] },
    clients: facts.clients,
  } as unknown as Parameters<typeof quotableChecks>[1]
  return createReadiness({ checks: quotableChecks({ snapshot: () => snapshot }, parts) }).report()
}

test('all of it together is ready', async () => {
  expect(await reportOf({})).toMatchObject({ ready: true, checks: { 'fill wallet': 'ok', market: 'ok' } })
  const chains = { solana: { fillWallet: 'x' } }
  expect(await reportOf({ fillWallet: undefined, chains })).toMatchObject({ ready: true })
})

test.each([
  ['no account that pays', { fillWallet: undefined }, { 'fill wallet': 'FILL_WALLET_MISSING' }],
  ['no endpoint', { clients: new Map() }, { market: 'NO_CHAIN_ENDPOINT' }],
  ['no chain that can be priced', { chain: () => ({ reason: 'no_data' }) }, { market: 'NO_CHAIN_PRICED' }],
  ['no price', { price: () => ({ reason: 'no_source' }) }, { market: 'NO_PRICE' }],
])('%s is not ready, by name', async (_what, changed, reasons) => {
  expect(await reportOf(changed)).toMatchObject({ ready: false, reasons })
})
