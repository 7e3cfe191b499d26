// Chains of the rows with other families, in a process of their own: what stands for them must not share a thread with
// what makes the load. Prints one line of JSON once they stand, and ends at SIGTERM.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, hexToBytes } from '@causeway/core'
import { bitcoinNetworkOf, tronAddress } from '@causeway/core/encodings'
import { scriptAddress, solanaLibrary } from '@causeway/families/rules'
import { fundingTransaction } from '@causeway/localnet/standIns/bitcoin'
import { serviceEnvironment } from '../apps/quote-api/test/fixtures/service.ts'
import { bitcoin, bitcoinChainId, startBitcoinChain } from '../test/support/bitcoinSettling.ts'
import { hyperliquidChainId, perps, startHyperliquidChain } from '../test/support/hyperliquidSettling.ts'
import { lighterChainId, perpsDollars, startLighterChain } from '../test/support/lighterSettling.ts'
import { solanaChainId, startSolanaNetwork } from '../test/support/solanaService.ts'
import { startTronChain, tronChainId } from '../test/support/tronSettling.ts'
import type { QuoteSide } from './quoteBench.ts'
import type { Family, FamilyChains } from './startFamilyChains.ts'

/** Users and recipients of each side, who take turns. */
const accountCount = 1_000

const { Keypair } = solanaLibrary()
const { network, bed, variables, configs, stop } = await startSolanaNetwork({ blockTimeSeconds: 2 })
const [btc, tron, lighter, hyperliquid] = await Promise.all([
  startBitcoinChain(true),
  // A fault proxy before the node would be slower than the service that asks.
  startTronChain(true, true),
  startLighterChain(true),
  startHyperliquidChain(network, true),
])
const chains = [btc, tron, lighter, hyperliquid]
const quotePath = join(configs.directory, 'quote.local.json')
const quoteFile: unknown = JSON.parse(await readFile(quotePath, 'utf8'))
await writeFile(
  quotePath,
  JSON.stringify(chains.reduce((described, chain) => chain.describe(described), quoteFile)),
)
const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))

/** The EVM chains have one endpoint each: the others have no more. */
const firstOnly = (settings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value.split(',')[0] ?? '']))

const { base, optimism } = network.deployment
/** Nobody has a key of them: nobody pays here. */
const addresses = Array.from(
  { length: accountCount },
  (_, index): Hex => `0x${(index + 1).toString(16).padStart(40, 'c')}`,
)
const evmSide = ({ chainId, tokens }: typeof base): QuoteSide => ({
  chainId,
  currency: tokens.USDC,
  unitsPerDollar: 1_000_000,
  leastDollars: 70,
  accounts: addresses,
})

const families: Readonly<Record<Family, QuoteSide>> = {
  Solana: {
    chainId: solanaChainId,
    currency: bed.mint.toBase58(),
    unitsPerDollar: 1_000_000,
    leastDollars: 70,
    accounts: addresses.map(() => Keypair.generate().publicKey.toBase58()),
  },
  Bitcoin: {
    // A bitcoin costs what an ether costs here: three thousand dollars.
    chainId: bitcoinChainId,
    currency: bitcoin,
    unitsPerDollar: 33_333,
    leastDollars: 70,
    accounts: fundOnBitcoin(),
  },
  Tron: {
    chainId: tronChainId,
    currency: tron.usdc,
    unitsPerDollar: 1_000_000,
    // With a smaller amount a refund would cost more than a twentieth of it, which is refused.
    leastDollars: 400,
    accounts: addresses.map((address) => tronAddress(address)),
  },
  Lighter: {
    chainId: lighterChainId,
    currency: perpsDollars,
    unitsPerDollar: 1_000_000,
    // As above: a transfer costs three dollars.
    leastDollars: 70,
    accounts: addresses.map((address, index) => {
      const account = `${50_000 + index}`
      lighter.exchange.setAccount(account, address, { [perpsDollars]: 1_000_000_000n })
      return account
    }),
  },
  Hyperliquid: {
    chainId: hyperliquidChainId,
    currency: perps,
    unitsPerDollar: 100_000_000,
    leastDollars: 70,
    accounts: addresses.map((address) => {
      hyperliquid.venue.fund(address, { '': 500_000_000_000n })
      return address
    }),
  },
}

/** No step from there can be made without outputs to spend. */
function fundOnBitcoin(): string[] {
  const scripts = addresses.map((address) => Uint8Array.of(0, 20, ...hexToBytes(address)))
  btc.chain.mine(...scripts.map((script) => fundingTransaction({ script, value: 50_000_000n })))
  return scripts.map((script) => scriptAddress(script, bitcoinNetworkOf('regtest')) ?? '')
}

const told: FamilyChains = {
  environment: await serviceEnvironment(network, directory, {
    ...variables,
    ...firstOnly(Object.assign({}, ...chains.map((chain) => chain.variables))),
    // Nobody pays for these quotes: that there are oracles is enough.
    ORACLES: network.keys.oracles.map(({ address }) => `http://127.0.0.1:9||${address}`).join(';'),
  }),
  evmEnvironment: await serviceEnvironment(network, directory),
  origin: evmSide(base),
  destination: evmSide(optimism),
  families,
}
process.once('SIGTERM', async () => {
  await Promise.all(chains.map((chain) => chain.stop()))
  await stop()
  await rm(directory, { recursive: true, force: true })
  process.exit(0)
})
console.log(JSON.stringify(told))
