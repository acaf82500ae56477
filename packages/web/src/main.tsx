import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { App } from './shell/app.tsx';
import { reloadOnceForNewFiles } from './shell/new-files.ts';
import './style/tokens.css';

reloadOnceForNewFiles();

const root = document.querySelector('#root');
if (root === null) throw new Error('The page has no place for the dashboard');

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The server may be this machine, which needs no network.
      networkMode: 'always',
      retry: false,
      refetchOnWindowFocus: false,
      staleTime: 60_000,
    },
  },
});

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
