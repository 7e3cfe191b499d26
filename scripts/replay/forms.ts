import { createHash, createPublicKey, verify } from 'node:crypto'
import { VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'

/**
 * The form of an answer by its own documentation, judged apart from the readers: a record that was shortened or
 * altered is told from an answer that a reader does not understand. Members that nobody reads are left open.
 */
export type Form = (result: unknown) => string | undefined

/** Words of the first member that is not of the form. */
function formOf(schema: z.ZodType): Form {
  return (result) => {
    const issue = schema.safeParse(result).error?.issues[0]
    return issue && `${issue.path.join('.') || 'it'}: ${issue.message}`
  }
}

const text = (pattern: RegExp, name: string) => z.string().regex(pattern, `no ${name}`)
const quantity = text(/^0x[0-9a-f]+$/i, 'quantity')
const bytes = text(/^0x([0-9a-f]{2})*$/i, 'whole bytes')
const hex32 = text(/^0x[0-9a-f]{64}$/i, 'hash of 32 bytes')
const address = text(/^0x[0-9a-f]{40}$/i, 'address of 20 bytes')
const bareHex = text(/^([0-9a-f]{2})*$/i, 'whole bytes')
const bareHash = text(/^[0-9a-f]{64}$/i, 'hash of 32 bytes')

const log = z.object({
  transactionHash: hex32,
  blockHash: hex32,
  blockNumber: quantity,
  address,
  topics: z.array(hex32).max(4),
  data: bytes,
  logIndex: quantity,
})

/** @source Ethereum JSON-RPC, "Receipt"; EIP-658 for `root` */
export const receiptForm = formOf(
  z
    .object({
      transactionHash: hex32,
      blockHash: hex32,
      blockNumber: quantity,
      from: address,
      logs: z.array(log),
      status: quantity.optional(),
      root: bytes.optional(),
    })
    .refine(({ status, root }) => status !== undefined || root !== undefined, 'neither status nor root')
    .refine(
      ({ logs, blockHash, transactionHash }) =>
        logs.every((one) => one.blockHash === blockHash && one.transactionHash === transactionHash),
      'a log of another transaction or block',
    )
    .refine(({ logs }) => new Set(logs.map(({ logIndex }) => logIndex)).size === logs.length, 'a log twice'),
)

/** @source Ethereum JSON-RPC, "Block" */
export const blockForm = formOf(
  z.object({ hash: hex32, parentHash: hex32, number: quantity, timestamp: quantity }),
)

/** @source Ethereum JSON-RPC, "TransactionInfo" */
export const transactionForm = formOf(
  z.object({ hash: hex32, blockHash: hex32, blockNumber: quantity, from: address, to: address.nullish() }),
)

/** One more base fee than blocks, and one list of rewards for each. @source Ethereum JSON-RPC, "eth_feeHistory" */
export const feeHistoryForm = formOf(
  z
    .object({
      oldestBlock: quantity,
      baseFeePerGas: z.array(quantity),
      gasUsedRatio: z.array(z.number()),
      reward: z.array(z.array(quantity)).optional(),
    })
    .refine(
      ({ baseFeePerGas, gasUsedRatio }) => baseFeePerGas.length === gasUsedRatio.length + 1,
      'blocks are missing',
    ),
)

/** @source go-ethereum, callTracer */
const call = z.object({
  type: z.string(),
  from: address,
  to: address.optional(),
  input: bytes,
  output: bytes.optional(),
  value: quantity.optional(),
  get calls() {
    return z.array(call).optional()
  },
})
export const traceForm = formOf(call)

/** @source TRON developer documentation, "HTTP API" */
export const tronBlockForm = formOf(
  z
    .object({
      blockID: bareHash,
      block_header: z.object({ raw_data: z.object({ number: z.number().default(0) }) }),
    })
    .refine(
      ({ blockID, block_header: { raw_data: raw } }) =>
        BigInt(`0x${blockID.slice(0, 16)}`) === BigInt(raw.number),
      'the id does not begin with the number',
    ),
)
const tronInfo = z.object({ id: bareHash, blockNumber: z.number(), blockTimeStamp: z.number() })
export const tronInfosForm = formOf(z.array(tronInfo))
export const tronContractForm = formOf(z.object({ contract_address: z.string(), bytecode: bareHex }))
export const tronCallForm = formOf(z.object({ energy_used: z.number() }))

/** The id is the hash of the bytes; what a node decoded beside them has whole bytes, too. */
export const tronTransactionForm = formOf(
  z
    .object({
      txID: bareHash,
      raw_data_hex: bareHex,
      raw_data: z.object({
        contract: z.array(
          z.object({ parameter: z.object({ value: z.object({ data: bareHex.optional() }) }) }),
        ),
      }),
    })
    .refine(
      ({ txID, raw_data_hex: raw }) =>
        createHash('sha256').update(Buffer.from(raw, 'hex')).digest('hex') === txID.toLowerCase(),
      'the id is not the hash of the bytes',
    ),
)

/** @source Hyperliquid documentation, "Info endpoint" */
export const spotMetaForm = formOf(
  z.object({
    tokens: z.array(
      z.object({ name: z.string(), tokenId: text(/^0x[0-9a-f]{32}$/i, 'token id of 16 bytes') }),
    ),
  }),
)
export const ledgerForm = formOf(
  z.array(z.object({ time: z.number(), hash: hex32, delta: z.object({ type: z.string() }) })),
)

/** @source Solana JSON-RPC documentation, "getSignaturesForAddress" */
export const listedForm = formOf(
  z.array(
    z.object({ signature: text(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'signature of 64 bytes'), slot: z.number() }),
  ),
)

/** The first signer signed the bytes. */
export const signedForm: Form = (result) => {
  const [body] = Object(Object(result)['transaction'])
  const { signatures, message } = VersionedTransaction.deserialize(Buffer.from(String(body), 'base64'))
  const [signature] = signatures
  const [payer] = message.staticAccountKeys
  if (signature === undefined || payer === undefined) return 'nobody signed it'
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), payer.toBuffer()])
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  return verify(null, message.serialize(), key, signature) ? undefined : 'the signature is not of these bytes'
}
