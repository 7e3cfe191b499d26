import { createTokenAccount, tokenAccount, transferChecked } from '@causeway/localnet/standIns/solana'
import { PublicKey, SystemProgram } from '@solana/web3.js'
import type { SolanaBed } from './startSolanaBed.ts'

/** Plain transfer of lamports as a wallet or an exchange sends it. @returns the transaction id */
export const payCoin = (
  bed: SolanaBed,
  address: string,
  lamports = 1_000_000n,
  from: SolanaBed['user'] = bed.user,
): Promise<string> =>
  bed.send(
    [SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: new PublicKey(address), lamports })],
    { signers: [from] },
  )

/** Plain transfer of a token, in smallest units, into an account that it creates if absent. */
export function payToken(
  bed: SolanaBed,
  address: string,
  {
    mint,
    program,
    amount = 1_000n,
  }: { readonly mint: PublicKey; readonly program: string; readonly amount?: bigint },
): Promise<string> {
  const [owner, payer] = [new PublicKey(address), bed.user.publicKey]
  const [from, to] = [tokenAccount(payer, mint, program), tokenAccount(owner, mint, program)]
  return bed.send([
    createTokenAccount({ payer, owner, mint, program }),
    transferChecked({ from, to, mint, authority: payer, amount, program }),
  ])
}
