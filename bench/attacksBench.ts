// P25: what a stranger's dollar does to the deposit of somebody else, by family. A minute's worth of the dearest reading that
// a dollar buys is written at once, directly before an honest deposit; measured is how long that takes to become work, and
// beside it the same without an attack. Prices are stated here; what comes out is a figure and a ratio of one run.
import type { Hex } from '@causeway/core'
import { fundingTransaction, keyOf } from '@causeway/localnet/standIns/bitcoin'
import { depositNative } from '@causeway/localnet/standIns/solana'
import { encodeFunctionData, parseAbi } from 'viem'
import { quote } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { type Family, families, requestOf, sidesOf } from '../test/support/familySides.ts'
import { fundedHyperliquidUser, hyperliquidDepository } from '../test/support/hyperliquidSettling.ts'
import { executeLighterStep, fundedLighterUser, lighterDepository } from '../test/support/lighterSettling.ts'
import { type SixFamilies, startFamilyChains, startSixFamilies } from '../test/support/sixFamilies.ts'
import { executeStep, fundedUser as fundedTronUser, stepSchema } from '../test/support/tronSettling.ts'
import { median } from './load.ts'
import type { BenchRow } from './row.ts'

const samples = 3
const patienceMs = 120_000

/** @returns what was written, for the table */
type Attack = { readonly price: string; readonly blockMs: number; burst(): Promise<string> }

let ids = 0
const nextId = (): Hex => `0x${(++ids).toString(16).padStart(64, 'a')}`

const idOf = (family: Family) => `P25-${family.toLowerCase()}`

export const attackIds = families.map(idOf)

/**
 * @param wanted ids of rows; all where it names none
 * @throws Error when a deposit becomes no work
 */
export async function benchAttacks(wanted: ReadonlySet<string>): Promise<readonly BenchRow[]> {
  const named = families.filter((family) => wanted.has(idOf(family)))
  const chains = await startFamilyChains()
  try {
    const six = await startSixFamilies(chains)
    try {
      const attacks = attacksOn(six)
      const rows: BenchRow[] = []
      for (const family of named.length > 0 ? named : families) {
        const row = await rowOf(six, family, attacks[family])
        console.log(`${row.id}: ${row.value}`)
        rows.push(row)
      }
      return rows
    } finally {
      await six.stop()
    }
  } finally {
    await chains.stop()
  }
}

async function rowOf(six: SixFamilies, family: Family, { price, blockMs, burst }: Attack): Promise<BenchRow> {
  const [calm, attacked]: [number[], number[]] = [[], []]
  let written = ''
  await depositToWork(six, family)
  for (let sample = 0; sample < samples; sample += 1) {
    calm.push(await depositToWork(six, family))
    attacked.push(
      await depositToWork(six, family, async () => {
        written = await burst()
      }),
    )
  }
  const [before, during] = [median(calm), median(attacked)]
  const boundMs = Math.max(1_000, blockMs)
  return {
    id: idOf(family),
    name: `deposit to offered work after a minute of an attack for 1 USD on ${family}: ${written} (${price})`,
    value: `${during.toFixed(0)} ms, without ${before.toFixed(0)} ms: ${(during / before).toFixed(2)} times, ${(during - before).toFixed(0)} ms later`,
    limit: `<= ${boundMs} ms later`,
    ratio: (during - before) / boundMs,
    goal: 1,
    atLeast: false,
  }
}

async function depositToWork(
  six: SixFamilies,
  family: Family,
  before?: () => Promise<void>,
): Promise<number> {
  const { url, requests } = six
  const to: Family = family === 'EVM' ? 'Tron' : 'EVM'
  const { body, deposit } = await requestOf(sidesOf(six), [family, to])
  const quoted = await quote(url, body)
  await before?.()
  const fromMs = performance.now()
  await deposit(quoted)
  while ((await requests.openWork(quoted, 'fill')) === undefined) {
    if (performance.now() - fromMs > patienceMs) throw new Error(`a deposit on ${family} became no work`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - fromMs
}

const aggregate = parseAbi([
  'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls) payable',
])
const depository = parseAbi(['function depositNative(address depositor, bytes32 id) payable'])

function attacksOn(six: SixFamilies): Readonly<Record<Family, Attack>> {
  const { network, solana, btc, tron, lighter, hyperliquid } = six.chains
  return {
    EVM: {
      price: '0.01 gwei and 3,000 USD an ether: 33 million gas',
      blockMs: 2_000,
      async burst() {
        const { base } = network.deployment
        const { walletClient, publicClient } = network.chains.base.chain.as(userOf(network, 3))
        const each = 200
        let gas = 0n
        let deposits = 0
        while (gas < 33_000_000n - gas / BigInt(Math.max(deposits / each, 1))) {
          const calls = Array.from({ length: each }, () => ({
            target: base.depository,
            allowFailure: false,
            value: 1n,
            callData: encodeFunctionData({
              abi: depository,
              functionName: 'depositNative',
              args: [walletClient.account.address, nextId()],
            }),
          }))
          const data = encodeFunctionData({ abi: aggregate, functionName: 'aggregate3Value', args: [calls] })
          const hash = await walletClient.sendTransaction({
            to: base.multicall3,
            data,
            value: BigInt(each),
            gas: 16_000_000n,
            chain: null,
          })
          gas += (await publicClient.waitForTransactionReceipt({ hash })).gasUsed
          deposits += each
        }
        return `${deposits} deposits of 1 wei, ${each} in a transaction, ${gas} gas`
      },
    },
    Solana: {
      price: '5,000 lamports a signature and 150 USD a SOL: 1,333 transactions',
      blockMs: 400,
      async burst() {
        const { bed } = solana
        const [transactions, each] = [1_333, 8]
        for (let sent = 0; sent < transactions; sent += 1)
          await bed.send(
            Array.from({ length: each }, () =>
              depositNative(bed.depository, { sender: bed.user.publicKey, amount: 1n, id: nextId() }),
            ),
          )
        return `${transactions} transactions of ${each} deposits`
      },
    },
    Bitcoin: {
      price: '1 satoshi a byte and 100,000 USD a bitcoin, dust of 330 satoshi: 3 outputs',
      blockMs: 600_000,
      async burst() {
        const script = keyOf('stranger').witness.script
        btc.chain.mine(fundingTransaction(...Array.from({ length: 3 }, () => ({ script, value: 330n }))))
        return 'one transaction of 3 outputs'
      },
    },
    Tron: {
      price:
        '100 sun a unit of energy and 0.30 USD a TRX: one call of 30,000 energy, and one more of free energy',
      blockMs: 3_000,
      async burst() {
        const user = await fundedTronUser(tron)
        const { body } = await requestOf(sidesOf(six), ['Tron', 'EVM'])
        const quoted = await quote(six.url, { ...body, user: user.address, refundTo: user.address })
        const step = stepSchema.parse(quoted.steps[0]?.items[0]?.data)
        const tiny = { ...step, parameter: { ...step.parameter, call_value: 1 } }
        for (const _time of [1, 2]) await executeStep(tron, tiny, user)
        return '2 deposits of 1 sun'
      },
    },
    Lighter: {
      price: '3 USD a transfer between accounts: one in three minutes',
      blockMs: 1_000,
      async burst() {
        const parameters = {
          toAccountIndex: Number(lighterDepository),
          assetIndex: 3,
          fromRouteType: 0,
          toRouteType: 0,
          amount: 1,
          usdcFee: Number(lighter.exchange.transferFee),
          memo: nextId(),
        }
        await executeLighterStep(
          lighter,
          { action: { type: 'transfer', parameters } },
          fundedLighterUser(lighter),
        )
        return 'one transfer of a millionth of a dollar'
      },
    },
    Hyperliquid: {
      price:
        '1 USD an account, which may then do 10,000 actions, at 1,200 a minute from one address of the network',
      blockMs: 1_000,
      async burst() {
        const { account } = fundedHyperliquidUser(hyperliquid)
        const [{ name, tokenId } = { name: '', tokenId: '' }] = hyperliquid.ledger.tokens
        const transfers = 1_200
        for (let sent = 0; sent < transfers; sent += 1) {
          hyperliquid.venue.execute({
            user: account.toLowerCase(),
            timeMs: Date.now(),
            action: {
              type: 'sendAsset',
              signatureChainId: '0x66eee',
              hyperliquidChain: 'Mainnet',
              destination: hyperliquidDepository,
              sourceDex: '',
              destinationDex: '',
              token: `${name}:${tokenId}`,
              amount: '0.000001',
              fromSubAccount: '',
              nonce: Date.now() * 10 + sent,
            },
          })
        }
        return `${transfers} transfers of a millionth of a dollar, of which the hub knows nothing`
      },
    },
  }
}
