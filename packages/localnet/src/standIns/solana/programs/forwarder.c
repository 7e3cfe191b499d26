/* Calls its first account, a program, with all further accounts and its own data: what a router does. */
#include "solana.h"

u64 entrypoint(u8 *bytes) {
  Scratch *scratch = (Scratch *)HEAP_START;
  if (!parse_input(bytes, &scratch->input) || scratch->input.account_len < 1) return 1;
  begin_call(scratch, scratch->input.accounts[0].key);
  for (u64 index = 1; index < scratch->input.account_len; index += 1) {
    const Account *account = &scratch->input.accounts[index];
    pass(scratch, account, account->is_writable, account->is_signer);
  }
  scratch->instruction.data = scratch->input.data;
  scratch->instruction.data_len = scratch->input.data_len;
  return call(scratch, 0);
}
