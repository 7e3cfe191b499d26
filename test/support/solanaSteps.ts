import { solanaLibrary } from '@causeway/families/rules'
import type { TransactionInstruction } from '@solana/web3.js'
import { z } from 'zod'
import type { SendOptions, SolanaBed } from '../families/solanaSupport/startSolanaBed.ts'

const stepSchema = z.object({
  items: z.tuple([
    z.object({
      data: z.object({
        instructions: z.array(
          z.object({
            keys: z.array(z.object({ pubkey: z.string(), isSigner: z.boolean(), isWritable: z.boolean() })),
            programId: z.string(),
            data: z.string(),
          }),
        ),
      }),
    }),
  ]),
})

/** Data of the one transaction of a step. */
export function instructionsOf(step: unknown): TransactionInstruction[] {
  const { PublicKey, TransactionInstruction: Instruction } = solanaLibrary()
  const [{ data }] = stepSchema.parse(step).items
  return data.instructions.map(
    ({ keys, programId, data: bytes }) =>
      new Instruction({
        keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
        programId: new PublicKey(programId),
        data: Buffer.from(bytes, 'hex'),
      }),
  )
}

/** Sends the one transaction of a step as the public client's adapter does. @returns its id */
export async function sendStep(
  bed: SolanaBed,
  step: unknown,
  signers: NonNullable<SendOptions['signers']>,
): Promise<string> {
  return bed.send(instructionsOf(step), { signers })
}
