import type { Hex } from '@causeway/core'
import { z } from 'zod'
import { writeFileAtomically } from '../files/atomicFile.ts'
import { hexSchema } from '../files/hexSchema.ts'
import { readJsonFile } from '../files/jsonFile.ts'
import type { KnownTransaction } from '../standIns/tron/knowledge.ts'
import type { EvmBehind } from '../standIns/tron/tronLedger.ts'

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

type Known = Map<string, KnownTransaction>

/** Transactions of earlier runs that the node still has, oldest first: a kill may have cost it the newest. */
export async function readTronTransactions({ node }: Pick<EvmBehind, 'node'>, file: string): Promise<Known> {
  const read = await readJsonFile(file)
  const parsed = fileSchema.safeParse(read.kind === 'found' ? read.json : undefined)
  if (!parsed.success) return new Map()
  const found = await Promise.all(
    Object.entries(parsed.data).map(async (entry) => {
      const receipt = await node('eth_getTransactionReceipt', [entry[1].evmHash])
      return receipt === null ? [] : [entry]
    }),
  )
  return new Map(found.flat())
}

export async function writeTronTransactions(known: Known, file: string): Promise<void> {
  await writeFileAtomically(file, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
}
