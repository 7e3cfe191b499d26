import type { StoredBody } from '../bodies/index.ts'

/** Bodies of any service, or of a proxy before it, that are no answer. */
export const httpBodies = {
  nodeError: {
    provenance: 'constructed',
    source: 'the form in which java-tron tells an exception of its own, with a text that we made up',
    proves: ['an error told with status 200 never means missing'],
    body: { Error: 'class java.lang.NullPointerException : null' },
  },
  refusal: {
    provenance: 'constructed',
    source: 'what a proxy might say beside a status that refuses',
    proves: ['a status that refuses is no answer, whatever its body says'],
    body: { Error: 'refused' },
  },
  errorPage: {
    provenance: 'constructed',
    source: 'what a proxy might show for a service that is down',
    proves: ['a page is no answer'],
    body: '<html>Bad gateway</html>',
  },
} satisfies Readonly<Record<string, StoredBody>>
