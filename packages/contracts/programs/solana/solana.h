/*
 * What a program sees of the Solana runtime: the serialised input, the system calls and the layouts that
 * cross-program calls take. Written for `clang -target bpf`, whose frames hold 512 bytes: larger things
 * are put on the heap, and every function is inlined.
 * @source Solana documentation, "Programs: input parameter serialization", "Cross Program Invocation (C)"
 */
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define INLINE static inline __attribute__((always_inline))
#define HEAP_START 0x300000000ULL
#define ACCOUNTS_MAX 16
#define KEY_BYTES 32
#define ACCOUNT_SPARE_BYTES 10240

typedef struct {
  u8 *key;
  u64 *lamports;
  u64 data_len;
  u8 *data;
  u8 *owner;
  u64 rent_epoch;
  u8 is_signer;
  u8 is_writable;
  u8 executable;
} Account;

typedef struct {
  u8 *key;
  u8 is_writable;
  u8 is_signer;
} AccountMeta;

typedef struct {
  u8 *program_id;
  AccountMeta *accounts;
  u64 account_len;
  u8 *data;
  u64 data_len;
} Instruction;

typedef struct {
  const u8 *bytes;
  u64 length;
} Slice;

typedef struct {
  const Slice *seeds;
  u64 length;
} SignerSeeds;

typedef struct {
  u64 slot;
  i64 epoch_start_timestamp;
  u64 epoch;
  u64 leader_schedule_epoch;
  i64 unix_timestamp;
} Clock;

extern u64 sol_invoke_signed_c(const Instruction *, const Account *, int, const SignerSeeds *, int);
extern u64 sol_try_find_program_address(const Slice *, u64, const u8 *, u8 *, u8 *);
extern u64 sol_sha256(const Slice *, u64, u8 *);
extern u64 sol_get_clock_sysvar(Clock *);
extern u64 sol_keccak256(const Slice *, u64, u8 *);
extern u64 sol_secp256k1_recover(const u8 *, u64, const u8 *, u8 *);

/** The parsed input, on the heap. */
typedef struct {
  Account accounts[ACCOUNTS_MAX];
  u64 account_len;
  u8 *data;
  u64 data_len;
  u8 *program_id;
} Input;

/** Scratch memory behind the parsed input. */
typedef struct {
  Input input;
  Account passed[ACCOUNTS_MAX];
  AccountMeta metas[ACCOUNTS_MAX];
  Instruction instruction;
  u8 call_data[64];
  u8 address[KEY_BYTES];
  u8 hash[KEY_BYTES];
  Slice slices[4];
  SignerSeeds signer;
  Clock clock;
  u8 bump;
} Scratch;

INLINE u64 read_u64(const u8 *at) {
  u64 value = 0;
  for (int byte = 7; byte >= 0; byte -= 1) value = (value << 8) | at[byte];
  return value;
}

INLINE void write_u64(u8 *at, u64 value) {
  for (int byte = 0; byte < 8; byte += 1) at[byte] = (u8)(value >> (8 * byte));
}

INLINE int equal(const u8 *a, const u8 *b, u64 length) {
  for (u64 byte = 0; byte < length; byte += 1) {
    if (a[byte] != b[byte]) return 0;
  }
  return 1;
}

INLINE int parse_input(u8 *at, Input *input) {
  u64 count = read_u64(at);
  at += 8;
  if (count > ACCOUNTS_MAX) return 0;
  for (u64 index = 0; index < count; index += 1) {
    Account *account = &input->accounts[index];
    if (at[0] != 0xff) {
      *account = input->accounts[at[0]];
      at += 8;
      continue;
    }
    account->is_signer = at[1];
    account->is_writable = at[2];
    account->executable = at[3];
    at += 8;
    account->key = at;
    at += KEY_BYTES;
    account->owner = at;
    at += KEY_BYTES;
    account->lamports = (u64 *)at;
    at += 8;
    account->data_len = read_u64(at);
    at += 8;
    account->data = at;
    at += account->data_len + ACCOUNT_SPARE_BYTES;
    at = (u8 *)(((u64)at + 7) & ~7ULL);
    account->rent_epoch = read_u64(at);
    at += 8;
  }
  input->account_len = count;
  input->data_len = read_u64(at);
  input->data = at + 8;
  input->program_id = input->data + input->data_len;
  return 1;
}

/** Adds one account to the call that is being built. */
INLINE void pass(Scratch *scratch, const Account *account, u8 is_writable, u8 is_signer) {
  u64 at = scratch->instruction.account_len;
  scratch->passed[at] = *account;
  scratch->metas[at].key = account->key;
  scratch->metas[at].is_writable = is_writable;
  scratch->metas[at].is_signer = is_signer;
  scratch->instruction.account_len = at + 1;
}

INLINE void begin_call(Scratch *scratch, u8 *program_id) {
  scratch->instruction.program_id = program_id;
  scratch->instruction.accounts = scratch->metas;
  scratch->instruction.account_len = 0;
  scratch->instruction.data = scratch->call_data;
  scratch->instruction.data_len = 0;
}

/** `seed_len` seeds in `scratch->slices`, the bump last, sign for a program address; 0 signs for none. */
INLINE u64 call(Scratch *scratch, u64 seed_len) {
  scratch->signer.seeds = scratch->slices;
  scratch->signer.length = seed_len;
  return sol_invoke_signed_c(&scratch->instruction, scratch->passed,
                             (int)scratch->instruction.account_len, &scratch->signer, seed_len > 0 ? 1 : 0);
}
