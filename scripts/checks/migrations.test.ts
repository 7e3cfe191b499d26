import { migrationChecksum } from '@causeway/database'
import { describe, expect, test } from 'vitest'
import { frozenFile, withUnfrozen } from '../migrations/frozen.ts'
import { migrationsCheck, newMigrationProblems } from './migrations.ts'
import { readRepositoryFiles } from './repositoryFiles.ts'

const folder = 'packages/books/migrations'
/** As many as were frozen before the rules for new ones. */
const old = Array.from({ length: 35 }, (_, index) => ({
  path: `${folder}/${String(index + 1).padStart(4, '0')}_old.sql`,
  text: `drop table t${index};\n`,
}))
const list = withUnfrozen('', old)

function findings(files: readonly { readonly path: string; readonly text: string }[], frozen = list) {
  return migrationsCheck
    .find([...files, { path: frozenFile, text: frozen }])
    .map(({ file, problem }) => `${file.replace(`${folder}/`, '')}: ${problem}`)
}

const added = { path: `${folder}/0036_new.sql`, text: 'create table n (id int);\n' }

describe('migrations check', () => {
  test('takes files as they were frozen, whatever a checkout does to their lines', () => {
    expect(findings(old)).toEqual([])
    const crlf = old.map(({ path, text }) => ({ path, text: text.replaceAll('\n', '\r\n') }))
    expect(findings(crlf)).toEqual([])
  })

  test('O-159: refuses one that changed by a space, and says what to do', () => {
    const edited = old.map((file, index) => (index === 3 ? { ...file, text: `${file.text} ` } : file))
    expect(findings(edited)).toEqual([
      expect.stringMatching(/^0004_old.sql: it was changed .* put it back .* by a new migration$/),
    ])
  })

  test('refuses one that is gone or renamed', () => {
    const renamed = old.map((file, index) =>
      index === 3 ? { path: `${folder}/0004_other.sql`, text: 'create table n (id int);' } : file,
    )
    expect(findings(renamed)).toEqual([
      expect.stringMatching(/^0004_old.sql: it is frozen and was removed or renamed/),
      expect.stringMatching(/^0004_other.sql: it comes before 0035_old.sql.*: give it number 0036$/),
      expect.stringMatching(/^0004_other.sql: it is not frozen/),
    ])
  })

  test('refuses one before the last, frozen or not, and two of one number', () => {
    const inserted = { path: `${folder}/0034_between.sql`, text: 'create table n (id int);' }
    const said = expect.stringMatching(/^0034_between.sql: it comes before 0035_old.sql/)
    const twice = '0034_old.sql: it has the number of 0034_between.sql'
    expect(findings([...old, inserted], withUnfrozen(list, [inserted]))).toEqual([said, twice])
    expect(findings([...old, inserted])).toEqual([
      said,
      expect.stringMatching(/^0034_between.sql: it is not frozen/),
      twice,
    ])
  })

  test('asks to freeze a new one, by the command that appends it', () => {
    expect(findings([...old, added])).toEqual([
      expect.stringMatching(/^0036_new.sql: it is not frozen: .* npm run tools -- freeze-migrations$/),
    ])
    const frozen = withUnfrozen(list, [...old, added])
    expect(frozen).toBe(`${list}${migrationChecksum(added.text)}  ${added.path}\n`)
    expect(findings([...old, added], frozen)).toEqual([])
  })

  test('the command keeps the line of one that changed', () => {
    const edited = { path: old[0]?.path ?? '', text: 'create table other (id int);' }
    expect(withUnfrozen(list, [edited, ...old.slice(1)])).toBe(list)
  })

  test('refuses a name without four digits, and a repository without the list', () => {
    const badly = { path: `${folder}/36_new.sql`, text: '' }
    expect(findings([...old, badly])).toEqual(['36_new.sql: its name is not as 0001_orders.sql'])
    expect(migrationsCheck.find(old)).toEqual([{ file: frozenFile, problem: expect.any(String) }])
  })

  test('a rule for new ones is no rule for those that were there before', () => {
    const drops = { ...added, text: 'drop table t1;' }
    expect(findings([...old, drops], withUnfrozen(list, [drops]))).toEqual([
      expect.stringMatching(/^0036_new.sql: the release before it runs beside it/),
    ])
  })

  test('lists what this repository has', () => {
    const files = readRepositoryFiles('.').filter(
      ({ path }) => path === frozenFile || /migrations\//.test(path),
    )
    expect(files.length).toBeGreaterThan(35)
    expect(migrationsCheck.find(files)).toEqual([])
  })
})

describe('a new migration', () => {
  test.each([
    'alter table a drop column b;',
    'alter table a\n  drop   column b;',
    'alter table a rename b to c;',
    'alter table a alter column b type text;',
    'alter table a alter b set data type text;',
    'alter table a alter column b set not null;',
    'alter table a add column b int not null;',
    'alter table a add column b numeric(78, 0) check (b > (1)) not null, add column c int not null default 0;',
    'truncate a;',
    'delete from a where b;',
    'do $$ begin if true then drop table a; end if; end $$;',
    'drop function f(int);',
  ])('O-163: may take nothing from the release before it unsaid: %s', (text) => {
    expect(newMigrationProblems(text)).toEqual([expect.stringContaining('older releases: stop')])
    expect(newMigrationProblems(`-- older releases: stop, they write b.\n${text}`)).toEqual([])
    expect(newMigrationProblems(`-- older releases: run on, they do not use b.\n${text}`)).toEqual([])
    expect(newMigrationProblems(`-- older releases: stop\n${text}`)).toHaveLength(1)
  })

  test.each([
    'create table a (b int not null, drop_me text);',
    'alter table a add column b int;\n-- rename nothing',
    "alter table a add column b numeric(78, 0) not null default 0 check (b in ('x', 'y'));",
    'create function f() returns void language plpgsql as $$ begin delete from a; end $$;',
    'drop index a_b; create index a_b on a (b);',
    'alter table a drop constraint a_check;',
    'create trigger t before update or delete on a for each row execute function f();',
  ])('may add: %s', (text) => {
    expect(newMigrationProblems(text)).toEqual([])
  })

  test.each([
    'create index concurrently a_b on a (b);',
    'create table a (b int);\ncommit;\ncreate table c (d int);',
    'begin; create table a (b int); commit;',
  ])('may not leave the transaction of all: %s', (text) => {
    expect(newMigrationProblems(text)).toEqual([expect.stringContaining('half done')])
  })
})
