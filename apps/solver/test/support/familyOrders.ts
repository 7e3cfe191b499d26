// Orders of Base that are paid on a chain of another family, and the configuration of a solver that pays there.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Hex, orderId as hashOf, type NetworkOf, type Order } from '@causeway/core'
import type { TestNetwork } from '@causeway/localnet'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { deposit, type PaidOrder, signOrder } from './paidOrders.ts'
import type { ScriptedItem } from './scriptedWork.ts'
import { changedConfigs } from './solverBench.ts'

const looseFile = z.looseObject({ chains: z.record(z.string(), z.unknown()) })
const quoteFile = looseFile.extend({ assets: z.array(z.looseObject({ id: z.string() })) })

/**
 * The local configuration with one chain more that is quoted and paid on.
 * @param asset of its coin, and the price that it has: the network has no other feed
 * @returns a folder that is removed when the test ends
 */
export async function configsWithFamily(family: {
  readonly key: string
  readonly asset: { readonly id: string; readonly priceKey: string }
  readonly quoted: object
  readonly policy: object
}): Promise<string> {
  const { key, asset, quoted, policy } = family
  const folder = await changedConfigs('quote.local.json', (text) => {
    const file = quoteFile.parse(JSON.parse(text))
    const assets = [...file.assets.filter(({ id }) => id !== asset.id), { ...asset, class: 'major' }]
    return JSON.stringify({ ...file, assets, chains: { ...file.chains, [key]: quoted } })
  })
  const path = join(folder, 'solver.local.json')
  const solver = looseFile.parse(JSON.parse(await readFile(path, 'utf8')))
  await writeFile(path, JSON.stringify({ ...solver, chains: { ...solver.chains, [key]: policy } }))
  return folder
}

export type FamilyPayment = { readonly recipient: string; readonly currency: string; readonly amount: bigint }
export type FamilyOrder = PaidOrder & { readonly payment: FamilyPayment }

/** An order of Base that pays on another chain, with its deposit. */
export async function orderPaidOn(
  network: TestNetwork,
  wishes: {
    readonly key: string
    readonly networkOf: NetworkOf
    readonly payment: FamilyPayment
    readonly extraData?: Hex
    /** Unix seconds; default: an hour from now. */
    readonly deadline?: number
    readonly refundTo?: Hex | undefined
  },
): Promise<FamilyOrder> {
  const { key, networkOf, payment, extraData = '0x', refundTo } = wishes
  const signed = await signOrder(network, { from: 'base', ...(refundTo && { refundTo }) })
  const { recipient, currency, amount } = payment
  const paid = { recipient, currency, minimumAmount: '1', expectedAmount: amount.toString() }
  const { deadline = signed.order.output.deadline } = wishes
  const output = { ...signed.order.output, chainId: key, payments: [paid], calls: [], extraData, deadline }
  const order: Order = { ...signed.order, output }
  const orderId = hashOf(order, networkOf)
  const signer = privateKeyToAccount(network.keys.orderSigner.privateKey)
  const orderSignature = await signer.signMessage({ message: { raw: orderId } })
  const [deposited] = await deposit(network, [{ ...signed, order, orderId, orderSignature }])
  if (deposited === undefined) throw new Error('one order is one order')
  return { ...deposited, payment }
}

let items = 0

const nextItemId = (key: string): string => {
  items += 1
  return `${key}-${items}`
}

export function fillOf(
  { orderId, order, orderSignature, deposits, payment }: FamilyOrder,
  chain: { readonly chainId: number; readonly fillContract?: Hex },
): ScriptedItem {
  const { recipient, currency, amount } = payment
  return {
    id: nextItemId(order.output.chainId),
    kind: 'fill',
    payload: {
      orderId,
      ...chain,
      deadline: order.output.deadline,
      order,
      orderSignature,
      deposits,
      payments: [{ recipient, currency, amount: amount.toString() }],
      calls: [],
    },
  }
}

export function claimOf(
  { recipient, currency, amount }: FamilyPayment,
  chain: { readonly chainId: number; readonly deadline: number; readonly fillContract?: Hex },
): ScriptedItem {
  const id = nextItemId('claim')
  return {
    id,
    kind: 'claim',
    payload: {
      claimId: `0x${items.toString(16).padStart(64, 'c')}`,
      ...chain,
      recipient,
      currency,
      amount: amount.toString(),
    },
  }
}
