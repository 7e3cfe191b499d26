// Accounts of a token, as their owners can set them.
import { token2022Program } from '@causeway/core'
import type { PublicKey } from '@solana/web3.js'
import { type SolanaNode, tokenAccount } from '../standIns/solana/index.ts'

export type Holder = {
  readonly owner?: PublicKey
  readonly amount?: bigint
  /** 1 is open, 2 frozen. */
  readonly state?: number
  readonly extension?: readonly [type: number, content: Buffer]
}

/** Puts the account of a token where a wallet has it. @source SPL Token-2022, Account */
export function placeTokenHolder(
  node: Pick<SolanaNode, 'place'>,
  {
    mint,
    of,
    owner = of,
    amount = 0n,
    state = 1,
    extension,
    program = token2022Program,
  }: Holder & { readonly mint: PublicKey; readonly of: PublicKey; readonly program?: string },
): void {
  const data = Buffer.alloc(165)
  mint.toBuffer().copy(data, 0)
  owner.toBuffer().copy(data, 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(state, 108)
  const parts: Buffer[] = [data]
  if (extension !== undefined) {
    const [type, content] = extension
    const head = Buffer.alloc(4)
    head.writeUInt16LE(type, 0)
    head.writeUInt16LE(content.length, 2)
    parts.push(Buffer.of(2), head, content)
  }
  const account = tokenAccount(of, mint, program).toBase58()
  node.place(account, { owner: program, data: Buffer.concat(parts) })
}

/** Data of an account that takes confidential transfers, and open ones where it says so. */
export function confidential(takesOpen: boolean): Holder {
  const content = Buffer.alloc(295)
  content.writeUInt8(1, 261)
  content.writeUInt8(takesOpen ? 1 : 0, 262)
  return { extension: [5, content] }
}
