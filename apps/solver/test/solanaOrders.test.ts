// Goal: orders that are paid in and out on a chain without fill contract are judged as on any other, paid to nobody
// else, attested, and given back only when nothing of them can land any more. Who gains by breaking it: whoever has
// the work interface; a user who wants fill and refund. Method: items as the service lists them, the whole way from the
// item to the chain, on the real runtime with real PostgreSQL; deposits are read from the chain.
import { isReadable, openFamilyChain } from '@causeway/chains'
import {
  bytesToHex,
  type Hex,
  orderId as hashOf,
  type NetworkOf,
  noFillOrRefundDigest,
  type Order,
} from '@causeway/core'
import { exposureLimitsOf, type GasBudgets } from '@causeway/core/config'
import { type ChainNetwork, solanaCodec } from '@causeway/core/encodings'
import { recoverSigner } from '@causeway/signer'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDepositReader } from '../src/facts/deposits.ts'
import { createMarkedRecord } from '../src/facts/paymentRecord.ts'
import type { Filling } from '../src/filling/filling.ts'
import { handleItem } from '../src/filling/handleItem.ts'
import { createPlainInventory } from '../src/wallet/inventory.ts'
import type { DeskProcess } from './support/payerBench.ts'
import {
  nativeCoin,
  type SolanaBench,
  solanaChainId,
  solanaNow,
  solanaRefundCost,
  startSolanaBench,
} from './support/solanaBench.ts'

const amount = 5_000_000n
const deadline = solanaNow + 3_600
const signer = privateKeyToAccount(generatePrivateKey())
const hub: ChainNetwork = { vmType: 'ethereum-vm', network: undefined }
let bench: SolanaBench
let count = 0

beforeAll(async () => {
  bench = await startSolanaBench()
})
afterAll(() => bench?.stop())

const networkOf: NetworkOf = (key) => (key === 'solana' ? bench.chain : key === 'base' ? hub : undefined)

type Opened = { readonly process: DeskProcess; readonly filling: Filling }

async function open(change: Partial<Filling> = {}, gas: Partial<GasBudgets> = {}): Promise<Opened> {
  const process = await bench.process(await bench.database(), { gas })
  const { desk, paying, records } = process
  const config = { chainId: solanaChainId, pinPolicy: [{ finalized: true as const }] }
  const own = signer.address
  const filling: Filling = {
    chains: [
      {
        key: 'solana',
        chainId: solanaChainId,
        codec: solanaCodec,
        desk,
        landsWithinSeconds: 90,
        fillContract: undefined,
        depositAddresses: undefined,
        permitRouter: undefined,
        permit2Router: undefined,
        multicall3: undefined,
        record: createMarkedRecord(paying),
        payees: { neverPaid: () => undefined, isBurnt: () => false, nobody: undefined },
        costOf: () => solanaRefundCost,
        gasMarginBps: 15_000,
        exposure: exposureLimitsOf({}, {}),
        inventory: createPlainInventory({
          balanceOf: (currency) => paying.balanceOf(currency),
          isAllowed: async () => true,
          open: () => records.active(desk.address, solanaChainId, Number.MAX_SAFE_INTEGER),
          floors: new Map([[nativeCoin, 10n ** 9n]]),
        }),
      },
    ],
    records,
    deposits: createDepositReader([{ chain: bench.chain, config }], { secondsSince: () => 0 }),
    orders: { networkOf, recoverSigner, orderSigners: new Set([signer.address.toLowerCase()]) },
    networkOf,
    sharing: { fillWallets: [own], own, turnSeconds: 0 },
    recoveries: undefined,
    // A lamport is worth a micro-dollar.
    valuer: () => (_chain, _currency, lamports) => lamports * 10n ** 12n,
    limits: {
      toleranceBps: 0,
      lossPerOrderMicroUsd: 0n,
      lossPerHourMicroUsd: 10n ** 9n,
      claimsPerHourMicroUsd: 0n,
    },
    denyList: undefined,
    isDryRun: false,
    hasOracles: false,
    isHalted: () => false,
    ...change,
  }
  return { process, filling }
}

type Offered = {
  readonly orderId: Hex
  readonly recipient: string
  readonly refundTo: string
  readonly fill: { readonly id: string; readonly kind: string; readonly payload: Record<string, unknown> }
  readonly refund: { readonly id: string; readonly kind: string; readonly payload: Record<string, unknown> }
}

/** An order with its deposit, and the items that the service would make of it. */
async function offer(
  wishes: {
    readonly ordered?: Partial<Order['output']>
    readonly until?: number
    readonly deposited?: bigint
    readonly givenBack?: bigint
  } = {},
): Promise<Offered> {
  count += 1
  const { until = deadline, deposited = amount, givenBack = deposited } = wishes
  const [recipient, refundTo] = [bench.account(), bench.account()]
  const paid = { recipient, currency: nativeCoin }
  const order: Order = {
    version: 'v1',
    solverChainId: 'base',
    solver: signer.address.toLowerCase(),
    salt: String(count),
    fees: [],
    inputs: [
      {
        payment: { chainId: 'solana', currency: nativeCoin, amount: amount.toString(), weight: '1' },
        refunds: [
          {
            chainId: 'solana',
            recipient: refundTo,
            currency: nativeCoin,
            minimumAmount: '0',
            deadline: until,
            extraData: '0x',
          },
        ],
      },
    ],
    output: {
      chainId: 'solana',
      calls: [],
      deadline: until,
      extraData: '0x',
      payments: [{ ...paid, minimumAmount: amount.toString(), expectedAmount: amount.toString() }],
      ...wishes.ordered,
    },
  }
  const orderId = hashOf(order, networkOf)
  const orderSignature = await signer.signMessage({ message: { raw: orderId } })
  const { transactionId } = await bench.deposit(orderId, deposited)
  const deposits = [{ chainId: solanaChainId, transactionId, onchainIndex: '0' }]
  const proof = { order, orderSignature, deposits }
  const shared = { orderId, chainId: solanaChainId, ...proof }
  return {
    orderId,
    recipient,
    refundTo,
    fill: {
      id: `fill-${count}`,
      kind: 'fill',
      payload: { ...shared, deadline: until, payments: [{ ...paid, amount: amount.toString() }], calls: [] },
    },
    refund: {
      id: `refund-${count}`,
      kind: 'refund',
      payload: {
        ...shared,
        deadline: solanaNow + 9_999,
        recipient: refundTo,
        currency: nativeCoin,
        amount: givenBack.toString(),
        endsOrder: deposited >= amount,
      },
    },
  }
}

async function pay({ process, filling }: Opened, item: Offered['fill']): Promise<string> {
  const handled = await handleItem(item, filling)
  if (handled.kind !== 'signed') throw new Error(JSON.stringify(handled))
  await process.desk.release(handled.record, 'given')
  return handled.record.transactions[0]?.hash ?? ''
}
async function reasonOf({ filling }: Opened, item: Offered['fill']): Promise<string> {
  const handled = await handleItem(item, filling)
  return 'reason' in handled ? `${handled.kind}: ${handled.reason}` : handled.kind
}
const round = async ({ process: { desk } }: Opened) => {
  await desk.advance()
}
const changed = (item: Offered['fill'], change: object) => ({
  ...item,
  payload: { ...item.payload, ...change },
})

async function attested(transactionId: string, orderId: Hex, recipient: string): Promise<bigint | undefined> {
  const { chain } = bench
  if (!isReadable(chain)) throw new Error('the chain is read')
  const { reader, close } = openFamilyChain(chain, { finalEntriesMax: 0 })
  try {
    const payments = [{ recipient, currency: nativeCoin }]
    const question = { transactionId, orderId, extraData: '0x' as const, payments }
    const found = await reader.readPayment(question, { signal: new AbortController().signal })
    return found.referencesOrder ? found.transfers[0]?.amount : undefined
  } finally {
    await close()
  }
}

describe('a fill', () => {
  test('pays its order once, and oracles attest it', async () => {
    const opened = await open()
    const { fill, orderId, recipient } = await offer()
    const hash = await pay(opened, fill)
    expect(bench.lamports(recipient)).toBe(amount)
    expect(await attested(hash, orderId, recipient)).toBe(amount)
    await round(opened)
    expect(await reasonOf(opened, { ...fill, id: 'again' })).toMatch('another item filled the order')
    // A solver that remembers nothing judges it anew, and the chain does not let it.
    expect(await reasonOf(await open(), fill)).toMatch('would revert')
    expect(bench.lamports(recipient)).toBe(amount)
  })

  test.each<[string, (offered: Offered) => object, RegExp]>([
    [
      'somebody else',
      () => ({ payments: [{ recipient: bench.account(), currency: nativeCoin, amount: '5000000' }] }),
      /not those of the order/,
    ],
    [
      'an address that differs in case alone',
      ({ recipient }) => {
        const other = swapCase(recipient)
        return { payments: [{ recipient: other, currency: nativeCoin, amount: '5000000' }] }
      },
      /not those of the order|payload is wrong/,
    ],
    [
      'more',
      ({ recipient }) => ({ payments: [{ recipient, currency: nativeCoin, amount: '5000001' }] }),
      /not those of the order/,
    ],
    [
      'an address of another family',
      () => ({ payments: [{ recipient: `0x${'ab'.repeat(20)}`, currency: nativeCoin, amount: '1' }] }),
      /payments.0.recipient/,
    ],
    ['through a fill contract', () => ({ fillContract: `0x${'ab'.repeat(20)}` }), /fill contract/],
    [
      'with calls',
      () => ({ calls: [{ to: `0x${'ab'.repeat(20)}`, data: '0x', value: '0' }] }),
      /calls are not run/,
    ],
    ['without its order', () => ({ order: undefined }), /names no order/],
  ])('is not paid to or as %s', async (_what, change, reason) => {
    const opened = await open()
    const offered = await offer()
    expect(await reasonOf(opened, changed(offered.fill, change(offered)))).toMatch(reason)
    expect(bench.lamports(offered.recipient)).toBe(0n)
  })

  test('of a recipient that nobody has the key of is refused', async () => {
    const opened = await open()
    const { vault } = bench.depository.addresses
    const payments = [
      {
        recipient: vault,
        currency: nativeCoin,
        minimumAmount: amount.toString(),
        expectedAmount: amount.toString(),
      },
    ]
    const { fill } = await offer({ ordered: { payments } })
    const asked = changed(fill, {
      payments: [{ recipient: vault, currency: nativeCoin, amount: amount.toString() }],
    })
    expect(await reasonOf(opened, asked)).toMatch('nobody has the key')
  })

  test('that could land after its deadline is refused', async () => {
    const { fill } = await offer({ until: solanaNow + 80 })
    expect(await reasonOf(await open(), fill)).toMatch('deadline has passed')
  })

  test('of a deposit that is not there is not paid', async () => {
    const [one, other] = [await offer(), await offer()]
    const { deposits } = other.fill.payload
    expect(await reasonOf(await open(), changed(one.fill, { deposits }))).toMatch('nothing was deposited')
  })

  test('keeps the floor of the wallet', async () => {
    const opened = await open()
    const [chain] = opened.filling.chains
    if (chain === undefined) throw new Error('a chain is paid on')
    expect(await chain.inventory.has(nativeCoin, bench.lamports(bench.wallet))).toBe(false)
    expect(await chain.inventory.has(nativeCoin, bench.lamports(bench.wallet) - 10n ** 9n)).toBe(true)
  })
})

describe('dust of a stranger', () => {
  const gas = { gasPerHourWei: solanaRefundCost, refundGasPerHourWei: 3n * solanaRefundCost }
  const spent = `later: the hour's budget refund-gas:${solanaChainId} is spent`
  /** As much comes back as an oracle asks for, which leaves the wallet a part of the gas in proportion. */
  const dust = (deposited = 1_500_000n) =>
    offer({ deposited, givenBack: deposited - (deposited * solanaRefundCost) / amount })
  const usedUp = async () => {
    const opened = await open({}, gas)
    const reasons: string[] = []
    for (let index = 0; index < 6; index += 1) reasons.push(await reasonOf(opened, (await dust()).refund))
    return { opened, reasons }
  }

  test('uses up the budget of its refunds, and keeps no fill waiting', async () => {
    const { opened, reasons } = await usedUp()
    expect(reasons).toEqual(['signed', 'signed', 'signed', spent, spent, spent])
    const { fill, recipient } = await offer()
    await pay(opened, fill)
    expect(bench.lamports(recipient)).toBe(amount)
  })

  test('keeps no refund waiting that keeps its gas', async () => {
    const { opened } = await usedUp()
    const { refund, refundTo } = await offer({ deposited: amount - 1n, givenBack: amount - solanaRefundCost })
    await pay(opened, refund)
    expect(bench.lamports(refundTo)).toBe(amount - solanaRefundCost)
  })

  test('is given back once an hour is over', async () => {
    const { opened } = await usedUp()
    const { refund, refundTo } = await dust()
    expect(await handleItem(refund, opened.filling)).toMatchObject({ kind: 'later', needsPause: true })
    await opened.process.anHourPasses()
    await pay(opened, refund)
    expect(bench.lamports(refundTo)).toBe(BigInt(String(refund.payload['amount'])))
  })

  test('makes a refund wait by name whose order must be closed first', async () => {
    const { opened } = await usedUp()
    const { refund } = await offer({ givenBack: amount - solanaRefundCost })
    expect(await reasonOf(opened, refund)).toBe(spent)
  })
})

describe('a refund', () => {
  test('waits until the order is closed for good, then goes back once, and is attested', async () => {
    const opened = await open()
    const { fill, refund, orderId, refundTo, recipient } = await offer()
    expect(await reasonOf(opened, refund)).toMatch('can still be filled')
    await round(opened)
    const hash = await pay(opened, refund)
    expect(bench.lamports(refundTo)).toBe(amount)
    expect(await attested(hash, orderId, refundTo)).toBe(amount)
    expect(await reasonOf(opened, { ...refund, id: 'again' })).toMatch('given back before')
    expect(await reasonOf(opened, fill)).toMatch('given back')
    // Nothing is known to a restored database: the chain still refuses both.
    const restored = await open()
    expect(await reasonOf(restored, fill)).toMatch('would revert')
    expect(await reasonOf(restored, refund)).toMatch('would revert')
    expect([bench.lamports(refundTo), bench.lamports(recipient)]).toEqual([amount, 0n])
  })

  test('of an order whose fill was signed and never landed: the fill can land no more', async () => {
    const opened = await open()
    const { fill, refund, refundTo, recipient } = await offer()
    const handled = await handleItem(fill, opened.filling)
    if (handled.kind !== 'signed') throw new Error(JSON.stringify(handled))
    expect(await reasonOf(opened, refund)).toMatch('can still be filled')
    await round(opened)
    await pay(opened, refund)
    bench.node.send(Buffer.from(handled.record.transactions[0]?.raw.slice(2) ?? '', 'hex'), {
      skipPreflight: true,
    })
    expect([bench.lamports(refundTo), bench.lamports(recipient)]).toEqual([amount, 0n])
  })

  test('of a filled order is refused, by a solver that remembers nothing too', async () => {
    const opened = await open()
    const { fill, refund, refundTo } = await offer()
    await pay(opened, fill)
    await round(opened)
    expect(await reasonOf(opened, refund)).toMatch('the fill has used the deposit')
    expect(await reasonOf(await open(), refund)).toMatch('the order was filled')
    expect(bench.lamports(refundTo)).toBe(0n)
  })

  test('P-72: of an order that is given up is refused, and what was signed before lands no more', async () => {
    const entered: string[] = []
    const hub = {
      submitDeposits: async () => void entered.push('deposit'),
      isExecuted: async () => false,
      writePromise: async () => void entered.push('promise'),
    }
    const opened = await open({ recoveries: { hub, chainNumberOf: () => 8_453 } })
    const { fill, refund, orderId, recipient } = await offer()
    const handled = await handleItem(fill, opened.filling)
    if (handled.kind !== 'signed') throw new Error(JSON.stringify(handled))
    const { order, orderSignature, deposits } = fill.payload
    const payload = { orderId, chainId: solanaChainId, order, orderSignature, deposits }
    const recovery = { id: `recovery-${count}`, kind: 'recovery', payload }
    expect(await reasonOf(opened, recovery)).toMatch('being closed')
    expect(await reasonOf(opened, refund)).toBe('refused: the order is recovered on the hub')
    await round(opened)
    bench.node.send(Buffer.from(handled.record.transactions[0]?.raw.slice(2) ?? '', 'hex'), {
      skipPreflight: true,
    })
    for (let tries = 0; tries < 30; tries += 1) {
      if ((await reasonOf(opened, recovery)).includes('not signed yet')) break
      await round(opened)
    }
    expect(bench.lamports(recipient)).toBe(0n)
    const solver = signer.address.toLowerCase() as Hex // CAST: an EVM account.
    const digest = noFillOrRefundDigest({ solverChainId: 'base', solver, orderId }, 8_453)
    const promise = await signer.sign({ hash: bytesToHex(digest) })
    const forged = await privateKeyToAccount(generatePrivateKey()).sign({ hash: bytesToHex(digest) })
    expect(await reasonOf(opened, changed(recovery, { promise: forged }))).toMatch('signed by somebody else')
    expect(entered).toEqual([])
    expect(await reasonOf(opened, changed(recovery, { promise }))).toBe('entered')
    expect(entered).toEqual(['deposit', 'promise'])
    // A database that was restored and knows nothing of it: the chain still refuses both.
    const restored = await open()
    expect(await reasonOf(restored, refund)).not.toBe('signed')
  })

  // Nothing on the chain ends a transaction at its deadline: what was signed in time may land after it.
  test('L-37: after the deadline still waits until the order is closed', async () => {
    const opened = await open()
    const { refund, refundTo } = await offer({ until: solanaNow - 10 })
    expect(await reasonOf(opened, changed(refund, { endsOrder: false }))).toMatch('can still be filled')
    await round(opened)
    await pay(opened, changed(refund, { endsOrder: false }))
    expect(bench.lamports(refundTo)).toBe(amount)
  })

  test('to an address that differs in case alone from that of the order is refused', async () => {
    const opened = await open()
    const { refund, refundTo } = await offer()
    const reason = await reasonOf(opened, changed(refund, { recipient: swapCase(refundTo) }))
    expect(reason).toMatch(/names no such refund|payload is wrong/)
  })
})

/** Another address in nearly all cases: the case of a letter is a digit of it. */
function swapCase(address: string): string {
  const swapped = [...address].map((one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  )
  return swapped.map((one) => (/[0OIl]/.test(one) ? 'x' : one)).join('')
}
