/// <reference types="vite/client" />
declare module 'virtual:scales.css';
