import { encodeDepositNative, type Hex } from '@causeway/core'
import { z } from 'zod'
import { connectLocalChain } from '../deploy/localChain.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import { writeFileAtomically } from '../network/atomicFile.ts'
import { hexSchema } from '../network/hexSchema.ts'
import { readJsonFile } from '../network/jsonFile.ts'
import { createTronLedger, type EvmBehind, startTronFacade } from '../standIns/tron/index.ts'
import { mined } from '../uniswap/clients.ts'
import { tronChainId } from './familyPlans.ts'
import type { FamilyStandIn } from './standIn.ts'

export type TronOptions = {
  readonly port: number
  /** The node that runs the contracts. */
  readonly node: { readonly url: string; readonly chainId: number }
  readonly depository: Hex
  /** Who deposits: an account of that node. */
  readonly depositor: LocalAccount
  /** Keeps the transactions of the facade as long as the node keeps them. */
  readonly file: string
}

const noOrder: Hex = `0x${'00'.repeat(32)}`

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/)
  .transform((text): Hex => `0x${text.slice(2)}`)
const frame = z.object({
  type: z.string(),
  from: hex,
  to: hex.optional(),
  value: hex.optional(),
  error: z.string().optional(),
  get calls(): z.ZodOptional<z.ZodArray<typeof frame>> {
    return z.array(frame).optional()
  },
})
const fileSchema = z.record(
  z.string(),
  z.object({
    evmHash: hexSchema(32),
    rawHex: z.string(),
    isContractCall: z.boolean(),
    trace: frame.optional(),
  }),
)

/** The API of a Tron node in front of the node of Base. Its transactions outlive a restart, as the node's do. */
export async function openTron(options: TronOptions): Promise<FamilyStandIn> {
  const { port, depository, depositor, file } = options
  const behind = connectBehind(options.node)
  const earlier = await readKept(behind, file)
  const ledger = createTronLedger(behind, earlier)
  const facade = await startTronFacade(behind, ledger, { chainId: tronChainId, port })
  return {
    url: facade.url,
    firstTransactionId: Object.keys(earlier)[0],
    stop: facade.stop,
    async deposit(amount) {
      const data = encodeDepositNative(depositor.address, noOrder)
      const call = { kind: 'trigger', to: depository, data, callValue: amount } as const
      const { transactionId } = await ledger.submit(depositor, call)
      await writeFileAtomically(file, `${JSON.stringify(Object.fromEntries(ledger.known), null, 2)}\n`)
      await behind.mine(2)
      return { transactionId }
    },
  }
}

function connectBehind({ url, chainId }: TronOptions['node']): EvmBehind {
  const chain = connectLocalChain(url, chainId)
  return {
    chain,
    async send(from, to, data, value) {
      const clients = chain.as(from)
      const transactionId = await clients.walletClient.sendTransaction({
        to,
        ...(data !== undefined && { data }),
        ...(value !== undefined && { value }),
      })
      await mined(clients, transactionId, 'the transaction')
      return { transactionId }
    },
    mine: (blocks = 1) => chain.node.mine({ blocks }),
    node: (method, params) => askNode(url, method, params),
  }
}

async function askNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const body: unknown = await response.json()
  if (typeof body !== 'object' || body === null || !('result' in body)) throw new Error(`${method} failed`)
  return body.result
}

/** Transactions of earlier runs that the node still has: a kill may have cost it the newest. */
async function readKept(behind: EvmBehind, file: string) {
  const read = await readJsonFile(file)
  const parsed = fileSchema.safeParse(read.kind === 'found' ? read.json : undefined)
  if (!parsed.success) return {}
  const found = await Promise.all(
    Object.entries(parsed.data).map(async (entry) => {
      const receipt = await behind.node('eth_getTransactionReceipt', [entry[1].evmHash])
      return receipt === null ? [] : [entry]
    }),
  )
  return Object.fromEntries(found.flat())
}
